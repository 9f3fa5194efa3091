//! `READLINK`: read_link.

use std::io;
use std::path::{Path, PathBuf};

use crate::efile::{Command, Driver, Request, inline};

/// Returns the target of a symbolic link; see [`std::fs::read_link`].
pub async fn read_link(path: impl AsRef<Path>) -> io::Result<PathBuf> {
    let request = Request::new(Command::Readlink).s1(path.as_ref());
    Driver::global().look_up(request, inline::read_link, |path| std::fs::read_link(path)).await
}
