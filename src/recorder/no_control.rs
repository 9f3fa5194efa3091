//! Systems without a control socket: how it knows its peers, and by which paths it is found, is Linux's.

use std::io;

pub(super) const IS_THERE: bool = false;

/// Fails.
pub(super) fn control() -> io::Result<()> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "the control socket is Linux's; use record:DIRECTORY"))
}
