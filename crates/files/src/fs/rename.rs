//! `RENAME`: rename.

use std::io;
use std::path::Path;

use crate::efile::{Command, Driver, Request};

/// Renames a file or directory, and replaces a file of the new name; see [`std::fs::rename`].
pub async fn rename(from: impl AsRef<Path>, to: impl AsRef<Path>) -> io::Result<()> {
    let request = Request::new(Command::Rename).s1(from.as_ref()).s2(to.as_ref());
    Driver::global().run(request, |request| std::fs::rename(request.path()?, request.second_path()?)).await
}
