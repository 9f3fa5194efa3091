//! The maintenance thread: does the slow work for firing threads, which must not wait.
//!
//! It runs while there are sessions, with all signals blocked, so that no handler of the program runs on it.

use std::sync::OnceLock;
use std::time::Duration;
use std::{io, thread};

use dyntrace_probes::rings::wake;
use dyntrace_probes::thread_progress::os::without_signals;

use super::recording::Recording;
use super::sessions::{Sessions, sessions};

/// The pause between two rounds while files grow fast.
const SHORT: Duration = Duration::from_millis(1);
/// The pause otherwise.
const LONG: Duration = Duration::from_millis(20);

/// Called in each round, without the lock of the sessions.
static EACH_ROUND: OnceLock<fn()> = OnceLock::new();

/// Has `call` called in each round. Only the first call counts.
#[cfg(all(recorded, target_os = "linux"))]
pub(super) fn each_round(call: fn()) {
    let _ = EACH_ROUND.set(call);
}

/// Starts the thread unless it runs.
pub(super) fn start(sessions: &mut Sessions) -> io::Result<()> {
    if !sessions.is_maintained {
        without_signals(|| thread::Builder::new().name("dyntrace-keeper".into()).spawn(run))?;
        sessions.is_maintained = true;
    }
    Ok(())
}

fn run() {
    loop {
        wake::begin_round();
        let mut sessions = sessions();
        let busy: Vec<bool> = sessions.recordings.iter_mut().flatten().map(Recording::maintain).collect();
        if busy.is_empty() {
            sessions.is_maintained = false;
            return;
        }
        drop(sessions);
        if let Some(call) = EACH_ROUND.get() {
            call();
        }
        wake::pause(if busy.contains(&true) { SHORT } else { LONG });
    }
}
