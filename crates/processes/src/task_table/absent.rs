//! Without a table: nothing is noted, and no runtime counts its tasks.

use std::ops::Deref;
use std::sync::Arc;

use tokio::runtime::Handle;

use super::{Begun, Operation, Spawned};

/// No slot.
#[derive(Clone, Copy)]
pub struct TaskSlot;

impl TaskSlot {
    pub const NONE: TaskSlot = TaskSlot;
    /// No slot.
    pub const NONE_OF_CLOSURE: TaskSlot = TaskSlot;

    /// Returns no slot.
    pub fn take(_spawned: &Spawned<'_>) -> TaskSlot {
        TaskSlot
    }

    /// Does nothing.
    #[inline(always)]
    pub fn run(&mut self, _pid: u64, _woken_by: u64, _now: impl FnOnce() -> u64) -> Option<Running> {
        None
    }

    /// Does nothing.
    pub fn poll_begins(self, _pid: u64, _now: u64) -> HookedPoll {
        HookedPoll
    }

    /// Does nothing.
    pub fn leave_after_polls(self, _pid: u64) {}

    /// Does nothing.
    #[inline(always)]
    pub fn leave(self, _pid: u64) {}
}

/// A poll of a task. There is none.
pub struct Running;

impl Running {
    /// Does nothing.
    pub fn end(self, _now: u64) {}
}

/// `false`.
pub fn is_started() -> bool {
    false
}

/// Nothing.
#[inline(always)]
pub fn wakes() -> Option<u64> {
    None
}

/// No poll.
pub struct HookedPoll;

impl HookedPoll {
    /// Does nothing.
    pub fn ends(self, _pid: u64, _now: u64) {}

    /// Does nothing.
    pub fn resume(self) {}
}

/// No row.
pub fn wait_begins(_begun: &Begun) -> u32 {
    0
}

/// No row.
pub fn enclosing_wait_begins(_begun: &Begun) -> u32 {
    0
}

/// No row.
pub fn wait_lasts(_row: u32, _since: u64, _encloses: bool, _begun: impl FnOnce() -> Begun) -> u32 {
    0
}

/// Does nothing.
pub fn wait_ends(_row: u32, _since: u64) {}

/// Does nothing.
pub fn wait_of_operation_ends(_operation: Option<Operation>) {}

/// Does nothing.
#[inline(always)]
pub fn tag_changed<T: Deref<Target = str>>(_tag: impl FnOnce() -> Option<T>) {}

/// No counter.
pub struct Counter;

impl Counter {
    pub fn new() -> Arc<Counter> {
        Arc::new(Counter)
    }

    /// Does nothing.
    pub fn begin(&self, _runtime: &Handle) {}

    /// Does nothing.
    pub fn count(&self) {}
}

/// No runtime.
pub enum Counting {}

impl Counting {
    /// None.
    pub fn current() -> Option<Counting> {
        None
    }

    /// Does nothing.
    pub fn count_with_next(&self) {}
}
