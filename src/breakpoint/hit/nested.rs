//! Calls on this thread whose end is waited for. Each has a frame of this crate on the stack, so their number is limited.

use std::cell::Cell;

/// The most calls whose end is waited for at once, on one thread; for timed calls, in one function. Calls inside them have no end.
pub(super) const MOST: u64 = 512;

thread_local! {
    static NESTED: Cell<u64> = const { Cell::new(0) };
}

/// Begins a call whose end is waited for. If there are too many, runs `give_up` and returns false.
#[inline(always)]
pub(super) fn begin_or(give_up: impl FnOnce()) -> bool {
    let nested = NESTED.get();
    if nested >= MOST {
        give_up();
        return false;
    }
    NESTED.set(nested + 1);
    true
}

/// Ends it, by a return or a panic.
#[inline(always)]
pub(super) fn end() {
    NESTED.set(NESTED.get() - 1);
}
