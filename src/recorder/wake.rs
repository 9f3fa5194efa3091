//! Ending the pause of the maintenance thread.

use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::{AcqRel, Acquire};
use std::time::Duration;

use super::os;

/// Not 0 since somebody has woken the thread.
static WOKEN: AtomicU32 = AtomicU32::new(0);

/// Ends the thread's pause. Safe in signal handlers; a system call, if nobody has done it since the last round.
pub(super) fn wake() {
    // Release: the round that comes sees what this thread did before.
    if WOKEN.swap(1, AcqRel) == 0 {
        os::end_pause(&WOKEN);
    }
}

/// Begins a round of the maintenance thread: whoever wakes it from now on causes another one.
pub(super) fn begin_round() {
    // Acquire: with `wake`.
    WOKEN.swap(0, Acquire);
}

/// Pauses the maintenance thread until [`wake`] was called since the round began, for `longest` at most.
pub(super) fn pause(longest: Duration) {
    os::pause(&WOKEN, longest);
}
