//! close(2) with its error, which std does not tell.

use std::fs::File;
use std::io;
use std::os::fd::IntoRawFd;

/// Closes a file. Whatever the answer, the descriptor is gone: Linux and FreeBSD free it even when close(2) is interrupted.
pub(super) fn close(file: File) -> io::Result<()> {
    let fd = file.into_raw_fd();
    // SAFETY: `into_raw_fd` gave the descriptor's ownership to us, and nothing else uses it after this.
    match unsafe { libc::close(fd) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
