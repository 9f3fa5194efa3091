//! The task that the current thread polls: its row, its tag, and the tasks that it wakes.

use std::ops::Deref;

use dyntrace_task_table::layout::{Slot, Waker};

use super::id::of_current;
use super::polls::{self, Current, Poll};
use super::program::table;
use super::table::Table;

/// The row of the task that the current thread polls.
pub(super) struct Polled {
    pub table: &'static Table,
    pub slot: &'static Slot,
    pub poll: &'static Poll,
    pub current: Current,
}

/// The row of the polled task, if it has one.
pub(super) fn polled() -> Option<Polled> {
    let poll = polls::own()?;
    let current = poll.current();
    let table = table()?;
    Some(Polled { table, slot: table.slot(current.slot, current.pid)?, poll, current })
}

impl Polled {
    pub(super) fn is_of(&self, pid: u64) -> bool {
        self.current.pid == pid
    }
}

/// Returns the waker of a task that the current thread wakes, as the word of a slot: the process that the thread polls, else its task of
/// tokio, else the thread. `None` without a table.
#[inline(always)]
pub fn wakes() -> Option<u64> {
    match polls::own().map_or(0, |poll| poll.current().pid) {
        0 => wakes_outside(),
        pid => Some(Waker::Process(pid).word()),
    }
}

#[cold]
fn wakes_outside() -> Option<u64> {
    let table = table()?;
    let waker = match of_current() {
        0 => Waker::Thread(polls::own_for(table).thread()),
        id => Waker::Task(id),
    };
    Some(waker.word())
}

/// Notes the new tag of the polled task.
#[inline(always)]
pub fn tag_changed<T: Deref<Target = str>>(tag: impl FnOnce() -> Option<T>) {
    if let Some(poll) = polls::own() {
        set_tag(poll, tag);
    }
}

#[cold]
#[inline(never)]
fn set_tag<T: Deref<Target = str>>(poll: &Poll, tag: impl FnOnce() -> Option<T>) {
    if poll.current().slot != 0
        && let Some(Polled { table, slot, .. }) = polled()
    {
        table.set_tag(slot, tag().as_deref());
    }
}
