//! The maintenance thread: does what threads that fire must not wait for.
//!
//! There is one while there are sessions. It takes no signal, so that no handler of the program runs on it.

use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::{AcqRel, Acquire};
use std::time::Duration;
use std::{io, thread};

use super::os;
use super::recording::Recording;
use super::session::{Sessions, sessions};
use crate::thread_progress::os::without_signals;

/// The pause between two rounds: while files grow fast, and else.
const SHORT: Duration = Duration::from_millis(1);
const LONG: Duration = Duration::from_millis(20);

/// Not 0 since somebody has woken the thread.
static WOKEN: AtomicU32 = AtomicU32::new(0);

/// Ends the thread's pause. Safe in signal handlers; a system call, if nobody has done it since the last round.
pub(super) fn wake() {
    // Release: the round that comes sees what this thread did before.
    if WOKEN.swap(1, AcqRel) == 0 {
        os::end_pause(&WOKEN);
    }
}

/// Starts the thread unless it is there.
pub(super) fn start(sessions: &mut Sessions) -> io::Result<()> {
    if !sessions.is_tended {
        without_signals(|| thread::Builder::new().name("dyntrace-keeper".into()).spawn(run))?;
        sessions.is_tended = true;
    }
    Ok(())
}

fn run() {
    loop {
        // Acquire: with `wake`. Before the round: who wakes later gets another one.
        WOKEN.swap(0, Acquire);
        let mut sessions = sessions();
        let busy: Vec<bool> = sessions.recordings.iter_mut().flatten().map(Recording::tend).collect();
        if busy.is_empty() {
            sessions.is_tended = false;
            return;
        }
        drop(sessions);
        os::pause(&WOKEN, if busy.contains(&true) { SHORT } else { LONG });
    }
}
