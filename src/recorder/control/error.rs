//! Errors of controlling a recorder.

use std::io;
use std::path::PathBuf;

use super::protocol::ProtocolError;

/// Why a recorder cannot be controlled.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ControlError {
    /// The folder for sockets cannot be trusted.
    #[error("the folder for control sockets, {folder:?}, {why}")]
    Folder {
        /// The folder.
        folder: PathBuf,
        /// The reason, and what to do.
        why: &'static str,
    },
    /// A system call failed.
    #[error("cannot {doing}: {error}")]
    System {
        /// The failed operation and its object.
        doing: String,
        /// The system's error.
        error: io::Error,
    },
    /// Another copy of the library has this control socket or table of tasks.
    #[error(
        "another copy of dyntrace, in this process or in one of the same number in another container, has {0:?}: use that one, or \
         give this one another XDG_RUNTIME_DIR"
    )]
    Taken(PathBuf),
    /// The process has no control socket.
    #[error(
        "process {0} has no control socket: start it with DYNTRACE=control in its environment or call dyntrace::recorder::control() \
         in it; dyntrace must be linked into it"
    )]
    NoControl(u32),
    /// There is no such process.
    #[error("there is no process {0}")]
    NoProcess(u32),
    /// The process exists, but /proc does not show it to this user.
    #[error("/proc hides process {0} from this user (mount option hidepid): run as root or as the user of the process")]
    Hidden(u32),
    /// The process has ended, and its number is still taken.
    #[error("process {0} has ended, and its parent has not yet waited for it (a zombie)")]
    Zombie(u32),
    /// Another process serves the process's control socket.
    #[error("the control socket of process {pid} is served by process {by} of user {uid}: do not trust it")]
    Impostor {
        /// The process.
        pid: u32,
        /// The process that serves the socket.
        by: u32,
        /// That process's user.
        uid: u32,
    },
    /// The process shares its folder for control sockets with a process of the same number in another pid namespace.
    #[error(
        "process {pid} has no control socket: process {by}, of the same number in another container, has it; start one of them with \
         another XDG_RUNTIME_DIR"
    )]
    Namesake {
        /// The process.
        pid: u32,
        /// The process that serves the socket.
        by: u32,
    },
    /// The process does not answer.
    #[error("process {0} does not answer: see whether it is stopped")]
    Silent(u32),
    /// An invalid or unexpected message.
    #[error(
        "process {pid} does not speak this protocol: {error}; use the dyntrace command of the version it is built with"
    )]
    Protocol {
        /// The process.
        pid: u32,
        /// The error in its answer.
        error: ProtocolError,
    },
    /// The process refused the request.
    #[error("process {pid}: {why}")]
    Refused {
        /// The process.
        pid: u32,
        /// Its reason.
        why: String,
    },
}

impl ControlError {
    /// For [`Result::map_err`].
    pub(super) fn system(doing: impl Into<String>) -> impl FnOnce(io::Error) -> ControlError {
        let doing = doing.into();
        move |error| ControlError::System { doing, error }
    }
}
