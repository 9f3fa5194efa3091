//! Systems without a control socket. Finding it, and checking its peers, needs Linux.

use std::io;

use crate::rings::descriptor::Descriptor;

pub(super) const IS_AVAILABLE: bool = false;

/// Fails.
pub(super) fn control() -> io::Result<()> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "the control socket exists on Linux only; use record:DIRECTORY"))
}

/// Fails.
pub(super) fn tasks() -> io::Result<()> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "the table of tasks exists on Linux only"))
}

impl Descriptor {
    /// Does nothing: no command can ask for a socket.
    #[cfg(recorded)]
    pub(crate) fn open_control_if_requested(&self) {}

    /// Does nothing, like the other. For generated code.
    #[doc(hidden)]
    #[inline]
    pub fn unrecorded(&self) {}
}

/// Does nothing: no command can ask for a socket.
#[cfg(feature = "trace")]
pub(crate) fn open_if_asked() {}
