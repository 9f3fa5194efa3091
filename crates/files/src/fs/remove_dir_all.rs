//! `RMDIR_ALL`: remove_dir_all.

use std::io;
use std::path::Path;

use crate::efile::{Command, Driver, Request};

/// Removes a directory and everything in it, in one operation; see [`std::fs::remove_dir_all`].
///
/// Dropping the future while the removal runs does not stop it.
pub async fn remove_dir_all(path: impl AsRef<Path>) -> io::Result<()> {
    let request = Request::new(Command::RmdirAll).s1(path.as_ref());
    Driver::global().run(request, |request| std::fs::remove_dir_all(request.path()?)).await
}
