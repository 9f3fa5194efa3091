//! Systems without a control socket. Finding it, and checking its peers, needs Linux.

use std::io;

pub(super) const IS_AVAILABLE: bool = false;

/// Fails.
pub(super) fn control() -> io::Result<()> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "the control socket exists on Linux only; use record:DIRECTORY"))
}

/// Fails.
pub(super) fn tasks() -> io::Result<()> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "the table of tasks exists on Linux only"))
}

/// Does nothing: no command can ask for a socket.
#[cfg(feature = "trace")]
pub(crate) fn open_if_asked() {}
