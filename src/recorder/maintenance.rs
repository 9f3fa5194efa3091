//! The maintenance thread: does what threads that fire must not wait for.
//!
//! There is one while there are sessions. It takes no signal, so that no handler of the program runs on it.

use std::time::Duration;
use std::{io, thread};

use super::recording::Recording;
use super::sessions::{Sessions, sessions};
use super::wake;
use crate::thread_progress::os::without_signals;

/// The pause between two rounds: while files grow fast, and else.
const SHORT: Duration = Duration::from_millis(1);
const LONG: Duration = Duration::from_millis(20);

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
        wake::begin_round();
        let mut sessions = sessions();
        let busy: Vec<bool> = sessions.recordings.iter_mut().flatten().map(Recording::tend).collect();
        if busy.is_empty() {
            sessions.is_tended = false;
            return;
        }
        drop(sessions);
        wake::pause(if busy.contains(&true) { SHORT } else { LONG });
    }
}
