//! `WRITE_FILE`: write.

use std::io;
use std::path::Path;

use castaway::cast;

use crate::efile::{Command, Driver, Request};

/// Writes a whole file, replacing its contents, in one operation; see [`std::fs::write`].
///
/// A vector of bytes moves into the operation; other contents are copied first. A write that fails or whose future is dropped may leave part of them in the file.
pub async fn write(path: impl AsRef<Path>, contents: impl AsRef<[u8]>) -> io::Result<()> {
    let (contents, _lives_on) = match cast!(contents, Vec<u8>) {
        Ok(bytes) => (bytes, None),
        Err(contents) => (contents.as_ref().to_vec(), Some(contents)),
    };
    let request = Request::new(Command::WriteFile).s1(path.as_ref()).i3(contents.len() as i64);
    let work = move |request: &Request| {
        std::fs::write(request.path()?, &contents).inspect(|()| request.add_moved(contents.len() as u64))
    };
    Driver::global().run(request, work).await
}
