//! Work under locks that a signal handler of the same thread must not begin again: the interrupted work may have a lock, and goes on only
//! after the handler.

use std::cell::Cell;
use std::sync::atomic::{Ordering, compiler_fence};
use std::thread::LocalKey;

/// Calls `act`, which must not panic. `None` in a signal handler, or a function that `act` calls, that has interrupted such a call with the
/// same flag.
#[inline]
pub fn unless_inside<R>(is_inside: &'static LocalKey<Cell<bool>>, act: impl FnOnce() -> R) -> Option<R> {
    if is_inside.replace(true) {
        return None;
    }
    // A signal handler of this thread sees the flag whenever the thread has a lock.
    compiler_fence(Ordering::SeqCst);
    let answer = act();
    compiler_fence(Ordering::SeqCst);
    is_inside.set(false);
    Some(answer)
}

#[cfg(test)]
mod tests {
    use super::*;

    thread_local! {
        static ONE: Cell<bool> = const { Cell::new(false) };
        static OTHER: Cell<bool> = const { Cell::new(false) };
    }

    #[test]
    fn a_call_inside_of_a_call_with_the_same_flag_is_refused() {
        let inner = unless_inside(&ONE, || (unless_inside(&ONE, || 1), unless_inside(&OTHER, || 2)));
        assert_eq!(inner, Some((None, Some(2))));
        assert_eq!(unless_inside(&ONE, || 3), Some(3));
    }
}
