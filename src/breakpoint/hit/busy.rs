//! Threads that run functions untraced, for the moment.

use std::cell::Cell;

use crate::alloc;

thread_local! {
    /// Whether this thread tells a tracer of a call, or is a tracer's: then functions run untraced. So what `Debug` calls is not
    /// told, and a signal handler takes no lock that it interrupts.
    static BUSY: Cell<bool> = const { Cell::new(false) };
}

#[inline]
pub(crate) fn is_busy() -> bool {
    BUSY.try_with(Cell::get).unwrap_or(true)
}

/// Has the current thread run functions untraced as long as it lives, and what it allocates meanwhile not counted for any call.
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

/// Has the current thread run functions untraced from now on: for a tracer's.
pub(crate) fn untraced_thread() {
    BUSY.set(true);
}
