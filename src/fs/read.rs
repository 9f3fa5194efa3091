//! `READ_FILE`: read.

use std::io;
use std::path::Path;

use crate::efile::{Command, Driver, Request};

/// Reads a whole file, in one operation; see [`std::fs::read`].
pub async fn read(path: impl AsRef<Path>) -> io::Result<Vec<u8>> {
    let request = Request::new(Command::ReadFile).s1(path);
    Driver::global().run(request, |request| std::fs::read(request.path()?)).await
}
