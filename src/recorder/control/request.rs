//! A request from outside for the control socket, to a process that did not open it at its start.
//!
//! The command writes into words that the process compares with zero anyway, and that are zero while no tracer looks. So an unused request
//! costs nothing. Probes have such words, and so have traced functions.
//!
//! 1. The `dyntrace` command writes the process's number into [`ASKED`], [`CONTROL_REQUESTED`] into the recorder's halves of some probes'
//!    words, and a mark into the words of traced functions (`breakpoint::site::asked`). It writes through `/proc/PID/mem`, for which the
//!    kernel wants the same permission as for a debugger: a process that may write there can run any code in this process anyway.
//! 2. The next thread that fires such a probe, or calls such a function, takes that request back, takes the number out of [`ASKED`], and
//!    opens the socket, or opens it again if its file was removed.
//! 3. The command connects. A session that starts or ends between 1 and 2 overwrites the half, and a setting may overwrite the mark. So
//!    the command writes again until it can connect. A request that no thread has taken before it connects stays: the thread that takes it later finds [`ASKED`] empty.
//! 4. A firing that a session records looks for no request. While there are sessions, their maintenance thread takes the number.
//!
//! Why this is safe:
//!
//! - Two commands write the same. Of the threads that find a request, one takes it, and one that finds another takes the number.
//! - A forked child has its parent's requests, and not the number in [`ASKED`]: it takes them back and opens nothing. Its parent may have
//!   had other threads, so it must not take locks or start threads before it executes another program. A child that is asked itself
//!   has its own number there.
//! - A command that is killed has asked for the socket or not. There is no state in between.
//! - Opening allocates, takes locks and starts a thread, which a signal handler must not do. `efile_drv-int_entry`, which an I/O thread fires
//!   before it runs a file operation, and `message-send` fire in threads that run dyntrace's own code, never in handlers. Any other
//!   request opens the socket only where no handler can be running: [`may_be_in_handler`]. Otherwise it is taken back all the same, so that
//!   threads that may not open the socket do not look again at each call. Neither does a pinned thread open it: others wait for that one.

use std::io::{self, Write as _};
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};

use dyntrace_probes::host;
use dyntrace_probes::rings::descriptor::Descriptor;
use dyntrace_probes::rings::request::Answers;
use dyntrace_probes::rings::stream_file::KeptErrno;
use dyntrace_probes::thread_progress::is_pinned;
use dyntrace_probes::thread_progress::os::{may_be_in_handler, without_file_size_signal};

use super::control;
use crate::recorder::sessions::{are_listed, try_sessions};

/// The process that is asked, by its number in its own pid namespace. The command finds the section in stripped programs, too.
#[used]
#[unsafe(link_section = "dyntrace_asked")]
static ASKED: AtomicU32 = AtomicU32::new(0);

#[cold]
fn open_for(probe: &Descriptor) {
    if take(probe) {
        open_if_this_process();
    }
}

/// The functions that firings call.
pub(crate) static ANSWERS: Answers = Answers { here: open_for, anywhere: open_outside_handlers };

#[cold]
fn open_outside_handlers(probe: &Descriptor) {
    // This may be a handler, or between a call of the C library and the look at its error.
    let _kept = KeptErrno::new();
    if take(probe) {
        open_if_asked();
    }
}

fn take(probe: &Descriptor) -> bool {
    // A handler must not allocate the list.
    if !are_listed() {
        return probe.take_first_control_request();
    }
    // The lock: a session that starts meanwhile sets the half, too. Without it, the next firing opens the socket.
    let Some(sessions) = try_sessions() else { return false };
    let is_taken = probe.take_control_request();
    drop(sessions);
    is_taken
}

/// Opens the control socket for a thread that has taken a request back, unless it may be in a signal handler.
pub(crate) fn open_if_asked() {
    if ASKED.load(Ordering::Relaxed) != 0 && !is_pinned() && !may_be_in_handler() {
        open_if_this_process();
    }
}

/// Opens the control socket if this process is asked. Not for threads that may be in a signal handler.
pub(crate) fn open_if_this_process() {
    if ASKED.load(Ordering::Relaxed) == 0 {
        return;
    }
    // A module's words are not the program's; its host opens the socket.
    let own = process::id();
    if host::is_guest() || ASKED.compare_exchange(own, 0, Ordering::Relaxed, Ordering::Relaxed).is_err() {
        return;
    }
    if let Err(error) = control() {
        // A program may run without standard error, or with a file at the process's limit for the size of files.
        without_file_size_signal(|| {
            let _ = writeln!(io::stderr(), "dyntrace: asked from outside for a control socket: {error}");
        });
    }
}
