//! The recorder, controlled from outside: sessions that other processes of the same user start, change and stop.
//!
//! [`control`] opens a socket in a folder that nobody else can enter, served by a thread of its own. `dyntrace record -p PID` and its
//! kin talk to it, by [`Connection`]; what they say is in [`protocol`].

mod client;
pub(crate) mod clients;
mod directory;
mod door;
mod error;
mod peer;
pub mod protocol;
mod registry;
mod server;
mod sessions;

use std::process;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;

use directory::Directory;
use registry::Registry;
use server::{Limits, Server};

use super::children::{self, IS_CONTROLLED};
use crate::host;
use crate::thread_progress::os::without_signals;

pub use client::{Connection, Ender};
pub(crate) use door::{serve_code, serve_traces};
pub use error::ControlError;

/// Whether a program whose environment has it record can be controlled, too.
pub(super) const IS_THERE: bool = true;

/// Lets other processes of this user, and root, control the recorder of this process from now on.
///
/// They do it over a socket in `$XDG_RUNTIME_DIR/dyntrace`, or in `/tmp/dyntrace-UID` where there is no runtime folder, by
/// `dyntrace record -p PID`, `dyntrace snapshot -p PID`, `dyntrace status` and `dyntrace trace -p PID`. A further call does nothing. A forked child has to call
/// it for itself. `DYNTRACE=control` in the environment does the same without a call.
///
/// # Errors
///
/// [`ControlError`] where the folder is somebody else's or open to others, and where the system gives no socket or thread. The program
/// can go on without.
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
    if IS_CONTROLLED.swap(true, Relaxed) {
        return Ok(());
    }
    let begun = begin(process::id());
    if begun.is_err() {
        IS_CONTROLLED.store(false, Relaxed);
    }
    begun
}

fn begin(own: u32) -> Result<(), ControlError> {
    let directory = Directory::own()?;
    directory.remove_stale();
    let listener = directory.listen(own)?;
    let server = Server::new(listener, Registry::default(), Limits::default())
        .map_err(ControlError::system("use the control socket"))?;
    without_signals(|| thread::Builder::new().name("dyntrace-control".into()).spawn(move || server.serve()))
        .map(drop)
        .map_err(ControlError::system("start the thread that serves the control socket"))
}
