//! `FSTAT`: metadata.

use std::fs::Metadata;
use std::io;
use std::path::Path;

use crate::efile::{Command, Driver, Request, inline};

/// Returns the metadata of the file that `path` leads to; see [`std::fs::metadata`].
pub async fn metadata(path: impl AsRef<Path>) -> io::Result<Metadata> {
    let request = Request::new(Command::Fstat).s1(path.as_ref()).i1(-1);
    Driver::global().look_up(request, inline::metadata, |path| std::fs::metadata(path)).await
}
