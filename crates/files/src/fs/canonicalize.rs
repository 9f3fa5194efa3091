//! `CANONICALIZE`: canonicalize.

use std::io;
use std::path::{Path, PathBuf};

use crate::efile::{Command, Driver, Request, inline};

/// Returns the absolute path that `path` leads to, without symbolic links, `.` and `..`; see [`std::fs::canonicalize`].
pub async fn canonicalize(path: impl AsRef<Path>) -> io::Result<PathBuf> {
    let request = Request::new(Command::Canonicalize).s1(path.as_ref());
    Driver::global().look_up(request, inline::canonicalize, |path| std::fs::canonicalize(path)).await
}
