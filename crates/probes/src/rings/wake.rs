//! The pause of the maintenance thread, which any thread can end.

use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::{Acquire, Release};
use std::time::Duration;

use super::os;

/// Not 0 once a thread has woken the maintenance thread since its round began.
static WOKEN: AtomicU32 = AtomicU32::new(0);

/// Ends the pause. Safe in signal handlers. Only the first call in each round makes a system call.
pub fn wake() {
    // Release: the next round sees this thread's earlier writes, also if another call follows in this round: a swap keeps the release of
    // the one before. Partner: `begin_round`.
    if WOKEN.swap(1, Release) == 0 {
        os::end_pause(&WOKEN);
    }
}

/// Begins a round: a later [`wake`] causes another one.
pub fn begin_round() {
    // Acquire: with `wake`.
    WOKEN.swap(0, Acquire);
}

/// Pauses for `longest` at most; not at all if [`wake`] was called in this round.
pub fn pause(longest: Duration) {
    os::pause(&WOKEN, longest);
}
