//! `RMDIR`: remove_dir.

use std::io;
use std::path::Path;

use crate::efile::{Command, Driver, Request};

/// Removes an empty directory; see [`std::fs::remove_dir`].
pub async fn remove_dir(path: impl AsRef<Path>) -> io::Result<()> {
    let request = Request::new(Command::Rmdir).s1(path.as_ref());
    Driver::global().run(request, |request| std::fs::remove_dir(request.path()?)).await
}
