//! How much of the time of a call is its own: not that of calls within it whose time is added up, too, by whichever session.
//!
//! Each thread has one sum, of what such calls took that have ended within the innermost one that goes on. A call puts the sum aside
//! when it begins. When it ends, the sum is what is not its own, and its whole time is added to what it put aside. Of an asynchronous
//! call each poll does that: nothing else may come between the beginning and the end on one thread.

use std::cell::Cell;

use super::door;

thread_local! {
    static INNER: Cell<u64> = const { Cell::new(0) };
}

/// A call or a poll that goes on.
#[derive(Clone, Copy)]
pub(super) struct Stretch {
    /// The sum that it put aside.
    outer: u64,
}

impl Stretch {
    #[inline(always)]
    pub(super) fn begin() -> Stretch {
        Stretch { outer: sum(0) }
    }

    /// Ends it after so many cycles. Answers how many of them were its own.
    #[inline(always)]
    pub(super) fn end(self, cycles: u64) -> u64 {
        // The clocks of two processors may differ by a little.
        cycles.saturating_sub(sum(self.outer.saturating_add(cycles)))
    }
}

/// The thread's sum, which is `next` from now on.
#[inline(always)]
fn sum(next: u64) -> u64 {
    match door::HOST.get() {
        None => replaced(next),
        Some(host) => (host.inner_time)(next),
    }
}

#[inline(always)]
pub(super) fn replaced(next: u64) -> u64 {
    INNER.replace(next)
}
