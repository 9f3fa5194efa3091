//! Control of the recorder by other processes of the same user, which start, change and stop sessions.
//!
//! [`control`] opens a socket in a folder that only the user can enter, and serves it on a thread of its own. The `dyntrace` command
//! talks to it by `Connection`, in the messages of `protocol`, which are for the command only and may change.

mod client;
pub(crate) mod clients;
mod directory;
mod error;
mod extension;
mod figures;
mod peer;
#[doc(hidden)]
pub mod protocol;
mod registry;
#[cfg(recorded)]
mod request;
mod server;
mod sessions;
mod tables;

use std::os::fd::{AsFd as _, AsRawFd as _};
use std::process;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::thread;

use directory::Directory;
use dyntrace_probes::host;
use dyntrace_probes::rings::closed_in_children::ClosedInChildren;
use dyntrace_probes::thread_progress::os::without_signals;
use registry::Registry;
use server::{Limits, Server};

use super::children::{self, CONTROL};

#[doc(hidden)]
pub use client::{Connection, Ender};
pub use error::ControlError;
#[cfg(recorded)]
pub(crate) use extension::serve_monitors;
pub(crate) use extension::{serve_code, serve_traces};
#[cfg(all(recorded, feature = "trace"))]
pub(crate) use request::open_if_asked;
#[cfg(recorded)]
pub(crate) use request::{ANSWERS, open_if_this_process};
pub use tables::tasks;

/// Does nothing: without probes, no command can ask.
#[cfg(all(not(recorded), feature = "trace"))]
pub(crate) fn open_if_asked() {}

/// Whether this system has control sockets.
pub(super) const IS_AVAILABLE: bool = true;

/// Lets other processes of this user, and root, control the recorder of this process from now on.
///
/// The commands `dyntrace record -p PID`, `dyntrace snapshot -p PID`, `dyntrace status`, `dyntrace metrics -p PID`,
/// `dyntrace monitor -p PID` and `dyntrace trace -p PID` use a socket in `$XDG_RUNTIME_DIR/dyntrace`, or in `/tmp/dyntrace-UID` without a
/// runtime folder. A further call opens it again if its file was removed, and does nothing else. A forked child has to call it again. `DYNTRACE=control` in the environment does the same without a call. In a program that
/// does neither, or whose socket was removed, these commands ask for the socket where they have a debugger's permission, and the next file operation, message, call of a
/// [`traced`](crate::traced) function, event of [`p!`](crate::p) or poll of a [`spawn`](crate::spawn)ed task opens it. Of these, the last
/// three do so only where they cannot be inside a signal handler: on a thread that blocks no signal, in a program none of whose handlers
/// has the flag `SA_NODEFER`.
///
/// # Errors
///
/// [`ControlError`] if the folder belongs to another user or is open to others, or the system gives no socket or thread. The program can
/// continue without.
///
/// ```no_run
/// dyntrace::recorder::control()?;
/// # Ok::<(), dyntrace::recorder::control::ControlError>(())
/// ```
pub fn control() -> Result<(), ControlError> {
    if host::is_guest() {
        let refused = host::refused("the control socket", "open it in the program");
        return Err(ControlError::system("serve the control socket")(refused));
    }
    children::begin_anew().map_err(ControlError::system("prepare for forks"))?;
    // Acquire, Release: this thread sees the socket that another one has opened.
    if CONTROL.is_opening.swap(true, Acquire) {
        return Ok(());
    }
    let opened = open(process::id());
    CONTROL.is_opening.store(false, Release);
    opened
}

/// Opens the socket, unless its file is still there.
fn open(own: u32) -> Result<(), ControlError> {
    let directory = Directory::own()?;
    let before = CONTROL.listener.load(Relaxed) - 1;
    if before >= 0 && directory.inode(own) == Some(CONTROL.inode.load(Relaxed)) {
        return Ok(());
    }
    directory.remove_stale();
    let (listener, inode) = directory.listen(own)?;
    let descriptor = listener.as_raw_fd();
    let server = Server::new(listener, Registry::default(), Limits::default())
        .map_err(ControlError::system("use the control socket"))?;
    let serve = move || {
        // Marked as used as long as it is open.
        let directory = directory;
        let _closed = ClosedInChildren::new(&directory.folder.as_fd());
        server.serve();
    };
    without_signals(|| thread::Builder::new().name("dyntrace-control".into()).spawn(serve))
        .map_err(ControlError::system("start the thread that serves the control socket"))?;
    CONTROL.listener.store(descriptor + 1, Relaxed);
    CONTROL.inode.store(inode, Relaxed);
    if before >= 0 {
        // Its server ends with its connections, and closes it.
        // SAFETY: the server before has the descriptor open until this call.
        unsafe { libc::shutdown(before, libc::SHUT_RDWR) };
    }
    Ok(())
}
