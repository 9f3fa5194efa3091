//! `DELETE`: remove_file.

use std::io;
use std::path::Path;

use crate::efile::{Command, Driver, Request};

/// Removes a file's name; see [`std::fs::remove_file`].
pub async fn remove_file(path: impl AsRef<Path>) -> io::Result<()> {
    let request = Request::new(Command::Delete).s1(path.as_ref());
    Driver::global().run(request, |request| std::fs::remove_file(request.path()?)).await
}
