//! The maintenance thread: does what threads that fire must not wait for.
//!
//! There is one while there are sessions. It takes no signal, so that no handler of the program runs on it.

use std::time::Duration;
use std::{io, mem, ptr, thread};

use super::recording::Recording;
use super::session::{Sessions, sessions};

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
        let mut sessions = sessions();
        let busy: Vec<bool> = sessions.recordings.iter_mut().flatten().map(Recording::tend).collect();
        if busy.is_empty() {
            sessions.is_tended = false;
            return;
        }
        drop(sessions);
        thread::sleep(if busy.contains(&true) { SHORT } else { LONG });
    }
}

/// Runs `f`, which starts a thread, so that the thread takes no signals.
pub(super) fn without_signals<R>(f: impl FnOnce() -> R) -> R {
    // SAFETY: plain data that the calls fill in; the mask of this thread is put back.
    unsafe {
        let (mut all, mut before) = (mem::zeroed(), mem::zeroed());
        libc::sigfillset(&mut all);
        libc::pthread_sigmask(libc::SIG_SETMASK, &all, &mut before);
        let result = f();
        libc::pthread_sigmask(libc::SIG_SETMASK, &before, ptr::null_mut());
        result
    }
}
