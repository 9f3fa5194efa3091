//! `COPY`: copy.

use std::io;
use std::path::Path;

use crate::efile::{Command, Driver, Request};

/// Copies the data and permissions of a file to another, which it replaces; see [`std::fs::copy`].
///
/// Returns the number of bytes copied. Dropping the future while the copy runs does not stop it.
pub async fn copy(from: impl AsRef<Path>, to: impl AsRef<Path>) -> io::Result<u64> {
    let request = Request::new(Command::Copy).s1(from.as_ref()).s2(to.as_ref());
    let work = |request: &Request| {
        std::fs::copy(request.path()?, request.second_path()?).inspect(|bytes| request.add_moved(*bytes))
    };
    Driver::global().run(request, work).await
}
