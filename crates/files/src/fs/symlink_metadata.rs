//! `LSTAT`: symlink_metadata.

use std::fs::Metadata;
use std::io;
use std::path::Path;

use crate::efile::{Command, Driver, Request, inline};

/// Returns the metadata of `path` without following a symbolic link; see [`std::fs::symlink_metadata`].
pub async fn symlink_metadata(path: impl AsRef<Path>) -> io::Result<Metadata> {
    let request = Request::new(Command::Lstat).s1(path.as_ref());
    Driver::global().look_up(request, inline::symlink_metadata, |path| std::fs::symlink_metadata(path)).await
}
