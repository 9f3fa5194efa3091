//! `SYMLINK`: symlink.

use std::io;
use std::path::Path;

use crate::efile::{Command, Driver, Request};

/// Makes `link` a symbolic link to `original`; see [`std::os::unix::fs::symlink`].
pub async fn symlink(original: impl AsRef<Path>, link: impl AsRef<Path>) -> io::Result<()> {
    let request = Request::new(Command::Symlink).s1(original.as_ref()).s2(link.as_ref());
    Driver::global().run(request, |request| std::os::unix::fs::symlink(request.path()?, request.second_path()?)).await
}
