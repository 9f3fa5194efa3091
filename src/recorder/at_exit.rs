//! The end of a session that lasts as long as its program.
//!
//! At the normal exit of the process (the return of `main`, `exit`) the session is stopped like any other: its files say that they are
//! whole, so readers wait for no more. Files of a program that is killed, or ends by `_exit`, lack that mark, but no event.

use std::io::{self, Write as _};
use std::sync::OnceLock;
use std::time::Duration;

use super::session::Session;
use crate::thread_progress::os::without_file_size_signal;

/// How long the exit waits for another thread that uses the sessions. It may be the exiting thread itself.
const PATIENCE: Duration = Duration::from_secs(10);

static SESSION: OnceLock<Session> = OnceLock::new();

/// Has the session stopped at the exit of the process. Handlers that are registered later run before that, so their events are recorded.
pub(super) fn stop(session: Session) {
    if SESSION.set(session).is_ok() {
        // SAFETY: the function stays mapped until it is called: the C library runs a library's exit handlers before it unloads the
        // library. The function does not unwind. If the C library has no memory for it, the files lack the mark.
        unsafe { libc::atexit(at_exit) };
    }
}

extern "C" fn at_exit() {
    let Some(session) = SESSION.get() else { return };
    without_file_size_signal(|| {
        // None in a forked child.
        let errors = session.stop_within(PATIENCE).map_or_else(Vec::new, |summary| summary.errors);
        for error in errors {
            // A program may run without standard error.
            let _ = writeln!(io::stderr(), "dyntrace: at the end of the recording: {error}");
        }
    });
}
