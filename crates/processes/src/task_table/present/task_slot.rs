//! The slot of a task, from its spawn to its end, and its polls.

use std::mem::ManuallyDrop;
use std::ptr;

use dyntrace_probes::clock;
use dyntrace_task_table::layout::{self, SLOT_WORDS, Slot, State, Task, slot};
use dyntrace_task_table::lock;

use super::Spawned;
use super::id::of_current;
use super::polls::{self, Current, Poll};
use super::program::table;
use super::table::Table;

/// The words of a slot during a change.
pub(super) type Changed<'s> = lock::Changed<'s, { SLOT_WORDS - 1 }>;

/// The slot of a task, by its number from 1; 0 for none. With marks in the highest bits.
#[derive(Clone, Copy)]
pub struct TaskSlot(u32);

/// Until the first poll. No slot has such a number, so polls after the first one pay nothing for what the first one does.
const UNPOLLED: u32 = 1 << 31;
/// If a runtime counts the task.
const COUNTED: u32 = 1 << 30;
/// If it is a closure for blocking work, which may take its time: watches do not see its call.
const CLOSURE: u32 = 1 << 29;

const _: () = assert!(layout::LIMIT < CLOSURE as usize);

impl TaskSlot {
    pub const NONE: TaskSlot = TaskSlot(0);
    /// No slot, for a closure for blocking work.
    pub const NONE_OF_CLOSURE: TaskSlot = TaskSlot(CLOSURE);

    /// Takes a slot for a task that begins. Returns no slot without a table; also if the table is full, which it counts.
    #[cold]
    pub fn take(spawned: &Spawned<'_>) -> TaskSlot {
        let Some(number) = table().and_then(|table| table.take(spawned)) else {
            return if spawned.is_blocking { TaskSlot::NONE_OF_CLOSURE } else { TaskSlot::NONE };
        };
        let mut slot = TaskSlot(number);
        if spawned.is_blocking {
            slot.0 |= CLOSURE;
        }
        if spawned.task.is_none() {
            slot.0 |= UNPOLLED;
        }
        if spawned.is_counted {
            slot.0 |= COUNTED;
        }
        slot
    }

    pub(super) fn number(self) -> u32 {
        self.0 & !(UNPOLLED | COUNTED | CLOSURE)
    }

    /// Notes that the current thread runs the task, until the value is dropped. `woken_by`: what [`wakes`] returned at the task's last
    /// wake; 0 without one. `now` is asked for the time only if there is a table. Watches see the polls of tasks without a slot, too.
    #[inline(always)]
    pub fn run(&mut self, pid: u64, woken_by: u64, now: impl FnOnce() -> u64) -> Option<Running> {
        let table = table()?;
        let slot = match table.slot(self.0 & !(COUNTED | CLOSURE), pid) {
            Some(slot) => Some(slot),
            None => self.first(table, pid),
        };
        let poll = polls::own_for(table);
        let began = now();
        if let Some(slot) = slot {
            begin_poll(slot, poll.thread(), woken_by, began);
        }
        let before = poll.current();
        let since = if self.0 & CLOSURE == 0 { began } else { 0 };
        poll.set(Current { slot: self.number(), pid, since });
        Some(Running { table, slot, poll, began, before })
    }

    /// Returns the slot of a task that is polled for the first time, with the id of the tokio task in which that happens.
    #[cold]
    fn first<'t>(&mut self, table: &'t Table, pid: u64) -> Option<&'t Slot> {
        if self.0 & UNPOLLED == 0 {
            return None;
        }
        self.0 &= !UNPOLLED;
        let slot = table.slot(self.number(), pid)?;
        let id = of_current();
        slot.change(|words| words.set_beside(id));
        Some(slot)
    }

    /// Frees the slot of a task that ends.
    #[inline(always)]
    pub fn leave(self, pid: u64) {
        self.leave_by(pid, |slot| slot.change(free));
    }

    /// [`leave`](TaskSlot::leave) where `free` frees the slot, and tells whether it could.
    #[inline(always)]
    pub(super) fn leave_by(self, pid: u64, free: impl FnOnce(&Slot) -> bool) {
        if self.0 & !CLOSURE != 0 {
            leave(self, pid, free);
        }
    }
}

#[cold]
fn leave(slot: TaskSlot, pid: u64, free: impl FnOnce(&Slot) -> bool) {
    if let Some(table) = table() {
        table.leave(slot.number(), pid, slot.0 & COUNTED != 0, free);
    }
}

/// Without its pid a slot is free; [`Table::take`] sets the other words.
pub(super) fn free(words: &Changed<'_>) {
    words.set(slot::PID, 0);
}

/// A poll of a task. Dropping it ends the poll, at the time that the clock then has.
pub struct Running {
    table: &'static Table,
    slot: Option<&'static Slot>,
    poll: &'static Poll,
    began: u64,
    before: Current,
}

impl Running {
    /// Ends the poll at a time that the caller has read.
    #[inline(always)]
    pub fn end(self, now: u64) {
        ManuallyDrop::new(self).end_at(|| now);
    }

    #[inline(always)]
    fn end_at(&self, now: impl FnOnce() -> u64) {
        self.poll.set(self.before);
        // A forked child has no table, or another one.
        if let Some(slot) = self.slot
            && table().is_some_and(|table| ptr::eq(table, self.table))
        {
            end_poll(slot, now().wrapping_sub(self.began));
        }
    }
}

impl Drop for Running {
    #[inline(always)]
    fn drop(&mut self) {
        self.end_at(clock::now);
    }
}

#[inline(always)]
fn begin_poll(slot: &Slot, thread: u32, woken_by: u64, now: u64) {
    slot.change(|words| begin(words, thread, woken_by, now));
}

#[inline(always)]
pub(super) fn begin(words: &Changed<'_>, thread: u32, woken_by: u64, now: u64) {
    words.set(slot::PID, words.get(slot::PID) & !0xff | State::Running as u64);
    words.set(slot::WOKEN_BY, woken_by);
    words.set(slot::SCHEDULED, now);
    words.set(slot::POLLS, Task::next_poll(words.get(slot::POLLS), thread));
}

#[inline(always)]
fn end_poll(slot: &Slot, took: u64) {
    slot.change(|words| end(words, took));
}

#[inline(always)]
pub(super) fn end(words: &Changed<'_>, took: u64) {
    let last = (took.cast_signed() as f32).to_bits();
    // The bits of numbers that are not negative have the order of the numbers.
    let longest = last.max(words.get(slot::LONGEST) as u32);
    words.set(slot::PID, words.get(slot::PID) & !0xff | State::Idle as u64);
    words.set(slot::BUSY, words.get(slot::BUSY).wrapping_add(took));
    words.set(slot::LONGEST, u64::from(last) << 32 | u64::from(longest));
}

const _: () = assert!(layout::SLOT == size_of::<Slot>());
