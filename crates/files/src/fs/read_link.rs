//! `READLINK`: read_link.

use std::io;
use std::path::{Path, PathBuf};

use crate::efile::{Command, Driver, Request, inline};

/// Returns the target of a symbolic link; see [`std::fs::read_link`].
pub async fn read_link(path: impl AsRef<Path>) -> io::Result<PathBuf> {
    let request = Request::new(Command::Readlink).s1(path.as_ref());
    Driver::global()
        .try_or_run(
            request,
            |request, trial| inline::read_link(request.path()?, trial),
            |request| std::fs::read_link(request.path()?),
        )
        .await
}
