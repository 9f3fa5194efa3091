//! A request from outside for the control socket, to a process that did not open it at its start.
//!
//! The door is the recorder's half of a probe's word, which costs nothing until it is used: an operation looks into it only while the word
//! is not zero, as it is while a tracer or a session looks at the probe.
//!
//! 1. The `dyntrace` command writes [`CONTROL_REQUESTED`] into the halves of the probes that call [`open_if_requested`]. It writes through
//!    `/proc/PID/mem`, for which the kernel wants the same permission as for a debugger: a process that may write there can run any code in
//!    this process anyway.
//! 2. The next thread that fires such a probe takes the request back, and opens the socket. These probes fire in threads that run
//!    dyntrace's own code, never in signal handlers, so that the thread may allocate and start threads.
//! 3. The command connects. A session that starts or ends between 1 and 2 overwrites the half: the command writes again until it can
//!    connect.
//!
//! The probes are `efile_drv-int_entry`, which an I/O thread fires before it runs a file operation, and `message-send`.

use std::io::{self, Write as _};

use super::control;
use crate::host;
use crate::recorder::descriptor::Descriptor;

/// Opens the control socket if another process has asked for it in the probe's word.
#[inline]
pub(crate) fn open_if_requested(probe: &Descriptor) {
    if probe.is_control_requested() {
        open(probe);
    }
}

#[cold]
fn open(probe: &Descriptor) {
    // A module's words are not the program's; its host opens the socket.
    if !probe.take_control_request() || host::is_guest() {
        return;
    }
    if let Err(error) = control() {
        // A program may run without standard error.
        let _ = writeln!(io::stderr(), "dyntrace: asked from outside for a control socket: {error}");
    }
}
