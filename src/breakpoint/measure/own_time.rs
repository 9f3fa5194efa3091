//! Own time: the time of a call without the timed calls inside it. A call is timed if any session has the action `time` for it.
//!
//! 1. Each thread has a counter: the cycles of timed calls that have ended inside the innermost running one.
//! 2. A call saves the counter and sets it to 0 when it begins.
//! 3. When it ends, its own time is its time minus the counter. It sets the counter to the saved value plus its whole time.
//!
//! An asynchronous call does 2 and 3 at each poll, because the thread polls other tasks between its polls.

use std::cell::Cell;

use super::host::HOST;

thread_local! {
    static INNER: Cell<u64> = const { Cell::new(0) };
}

/// A running call or poll.
#[derive(Clone, Copy)]
pub(crate) struct Stretch {
    /// The saved counter of the call around it.
    outer: u64,
}

impl Stretch {
    #[inline(always)]
    pub(crate) fn begin() -> Stretch {
        Stretch { outer: exchange(0) }
    }

    /// Ends the call, which took `cycles`. Returns its own cycles.
    #[inline(always)]
    pub(crate) fn end(self, cycles: u64) -> u64 {
        // Saturating: the clocks of two processors may differ by a few cycles.
        cycles.saturating_sub(exchange(self.outer.wrapping_add(cycles)))
    }
}

/// Sets the thread's counter and returns the old value. A module uses the counter of its host.
#[inline(always)]
fn exchange(next: u64) -> u64 {
    match HOST.get() {
        None => exchange_own(next),
        Some(host) => (host.inner_time)(next),
    }
}

#[inline(always)]
pub(crate) fn exchange_own(next: u64) -> u64 {
    INNER.replace(next)
}
