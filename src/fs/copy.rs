//! `COPY`: copy.

use std::io;
use std::path::Path;

use crate::efile::{Command, Driver, Request};

/// Copies the data and permissions of a file to another, which it replaces; see [`std::fs::copy`].
///
/// Returns the number of bytes copied. Dropping the future while the copy runs does not stop it.
pub async fn copy(from: impl AsRef<Path>, to: impl AsRef<Path>) -> io::Result<u64> {
    let request = Request::new(Command::Copy).s1(from.as_ref()).s2(to.as_ref());
    Driver::global().run(request, |request| std::fs::copy(request.path()?, request.second_path()?)).await
}
