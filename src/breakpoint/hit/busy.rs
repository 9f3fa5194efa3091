//! Threads that run functions untraced, for a while or always.

use std::cell::Cell;

use crate::alloc;

thread_local! {
    /// Whether this thread makes an event, or is a tracer's: then functions run untraced. So calls from a `Debug` make no events, and
    /// a signal handler takes no lock that it has interrupted.
    static BUSY: Cell<bool> = const { Cell::new(false) };
}

#[inline]
pub(crate) fn is_busy() -> bool {
    BUSY.try_with(Cell::get).unwrap_or(true)
}

/// While it lives, the current thread runs functions untraced, and its allocations count for no call.
pub(crate) struct Busy {
    before: bool,
    allocated: u64,
}

impl Busy {
    #[inline]
    pub(crate) fn begin() -> Busy {
        Busy { before: BUSY.replace(true), allocated: alloc::allocated() }
    }
}

impl Drop for Busy {
    #[inline]
    fn drop(&mut self) {
        BUSY.set(self.before);
        alloc::forget_since(self.allocated);
    }
}

/// Has the current thread, a tracer's, run functions untraced from now on.
pub(crate) fn untraced_thread() {
    BUSY.set(true);
}
