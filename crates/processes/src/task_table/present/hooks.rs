//! The slots of tasks whose polls begin and end by calls from their runtime. Another thread may still have to end a poll, or to leave the
//! slot: so several threads write such a slot, under its lock.

use std::hint;
use std::ptr;
use std::thread;
use std::time::Duration;

use dyntrace_task_table::layout::{Slot, State, slot};

use super::polls::{self, Current, Poll};
use super::program::table;
use super::table::Table;
use super::task_slot::{Changed, TaskSlot, begin, end, free};

impl TaskSlot {
    /// [`run`](TaskSlot::run) for hooks, which end the poll by a call of their own. If another thread has not yet called for the end of the
    /// previous poll, this ends it, and that call does nothing.
    pub fn poll_begins(self, pid: u64, now: u64) -> HookedPoll {
        let Some(table) = table() else { return HookedPoll { begun: None, before: None } };
        let poll = polls::own_for(table);
        let begun = table.slot(self.number(), pid).and_then(|slot| {
            let mut polls = 0;
            let began = change_settled(slot, pid, |words| {
                end_if_running(words, now);
                begin(words, poll.thread(), 0, now);
                polls = words.get(slot::POLLS);
            });
            began.then_some(Beginning { table, slot, polls })
        });
        let before = poll.current();
        poll.set(Current { slot: self.number(), pid, since: now });
        HookedPoll { begun, before: Some((poll, before)) }
    }

    /// [`leave`](TaskSlot::leave) for a task whose last poll another thread may still have to end. That thread finds another pid in the
    /// slot, and does nothing.
    pub fn leave_after_polls(self, pid: u64) {
        self.leave_by(pid, |slot| change_settled(slot, pid, free));
    }
}

/// A poll that ends by another call of its runtime, and the task that the thread polls around it.
pub struct HookedPoll {
    begun: Option<Beginning>,
    before: Option<(&'static Poll, Current)>,
}

/// A poll that has begun in the slot of its task.
struct Beginning {
    table: &'static Table,
    slot: &'static Slot,
    /// The word with the number of the poll.
    polls: u64,
}

impl HookedPoll {
    /// Ends the poll of the process `pid` at this time, unless another thread has. The current thread polls the task around it again.
    pub fn ends(self, pid: u64, now: u64) {
        // A forked child has no table, or another one.
        if let Some(Beginning { table: of, slot, polls }) = self.begun
            && table().is_some_and(|table| ptr::eq(table, of))
            // Otherwise another thread changes it, which ends this poll first.
            && let Some(lock) = slot.settled()
            && slot.word(slot::PID) >> 16 == pid
            && slot.word(slot::POLLS) == polls
        {
            slot.change_if(lock, |words| end_if_running(words, now));
        }
        self.resume();
    }

    /// Notes that the current thread polls the task around it again.
    pub fn resume(self) {
        if let Some((poll, before)) = self.before {
            poll.set(before);
        }
    }
}

/// Changes the slot of the process `pid`. Waits for another thread that is changing it: some nanoseconds, unless the system stops that
/// thread. Returns `false`, and changes nothing, if the process has ended: a runtime that shuts down may end a task that one of its
/// threads begins to poll.
fn change_settled(slot: &Slot, pid: u64, mut change: impl FnMut(&Changed<'_>)) -> bool {
    let mut turns = 0;
    loop {
        if let Some(lock) = slot.settled() {
            // The slot may be free, and then another thread takes it as its only writer.
            if slot.word(slot::PID) >> 16 != pid {
                return false;
            }
            if slot.change_if(lock, &mut change) {
                return true;
            }
        }
        turns += 1;
        // A sleep at last: a thread of lower priority gets no processor from one that only yields.
        match turns {
            ..100 => hint::spin_loop(),
            100..200 => thread::yield_now(),
            _ => thread::sleep(Duration::from_micros(50)),
        }
    }
}

fn is_running(word: u64) -> bool {
    word & 0xff == State::Running as u64
}

fn end_if_running(words: &Changed<'_>, now: u64) {
    if is_running(words.get(slot::PID)) {
        end(words, now.wrapping_sub(words.get(slot::SCHEDULED)));
    }
}
