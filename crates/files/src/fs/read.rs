//! `READ_FILE`: read.

use std::io;
use std::path::Path;

use crate::efile::{Command, Driver, Request, inline};

/// Reads a whole file, in one operation; see [`std::fs::read`].
pub async fn read(path: impl AsRef<Path>) -> io::Result<Vec<u8>> {
    let request = Request::new(Command::ReadFile).s1(path.as_ref());
    Driver::global()
        .try_or_run(
            request,
            |request, trial| {
                inline::read_file(request.path()?, trial).inspect(|bytes| request.add_moved(bytes.len() as u64))
            },
            |request| std::fs::read(request.path()?).inspect(|bytes| request.add_moved(bytes.len() as u64)),
        )
        .await
}
