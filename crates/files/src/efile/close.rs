//! close(2) with its error, which std ignores.

use std::fs::File;
use std::io;
use std::os::fd::IntoRawFd;

/// Closes a file. The descriptor is freed even on an error: Linux and FreeBSD free it even if close(2) is interrupted.
pub(super) fn close(file: File) -> io::Result<()> {
    let fd = file.into_raw_fd();
    // SAFETY: `into_raw_fd` passed the ownership of the descriptor to this function, and nothing uses it after this.
    match unsafe { libc::close(fd) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
