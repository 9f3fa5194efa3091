//! Files of which only the path is known.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use nix::fcntl::OFlag;

/// Opens a regular file. Opening a pipe would block until it has a writer, and opening a device may have effects.
pub fn open(path: &Path) -> io::Result<File> {
    let refused = || io::Error::new(io::ErrorKind::InvalidInput, "it is no regular file");
    if !fs::metadata(path)?.is_file() {
        return Err(refused());
    }
    let file = OpenOptions::new().read(true).custom_flags((OFlag::O_NONBLOCK | OFlag::O_NOCTTY).bits()).open(path)?;
    // The path may have got another file meanwhile.
    if file.metadata()?.is_file() { Ok(file) } else { Err(refused()) }
}
