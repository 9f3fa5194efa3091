//! `PREADV`, `PWRITEV`: File::read_at and File::write_at.

use std::io;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use super::open_file::File;
use crate::efile::inline::Trial;
use crate::efile::{Command, Request};

impl File {
    /// Reads at an offset into `buffer[..]`, up to its length. Returns the count of bytes and the buffer.
    ///
    /// The buffer keeps its length, so that it can be reused; bytes after the count are unchanged. A short read is no error; 0 means the
    /// end of the file. If the operation could not run (see [`efile`](crate::efile)), the buffer is lost and an empty one comes back.
    /// Dropping the future loses the buffer.
    ///
    /// ```
    /// # async fn example(file: dyntrace::fs::File) -> std::io::Result<()> {
    /// let buffer = vec![0; 4096];
    /// let (count, buffer) = file.read_at(buffer, 8192).await;
    /// println!("{:?}", &buffer[..count?]);
    /// # Ok(()) }
    /// ```
    pub async fn read_at(&self, buffer: Vec<u8>, offset: u64) -> (io::Result<usize>, Vec<u8>) {
        let request = self.positional(Command::Preadv, buffer.len(), offset);
        let descriptor = &self.descriptor;
        let attempt = |request: &Request, buffer: &mut Vec<u8>, trial: &mut Trial| {
            request.moving(descriptor.try_read_at(buffer, offset, trial))
        };
        let work = || {
            let user = Arc::clone(descriptor);
            move |request: &Request, buffer: &mut Vec<u8>| request.moving(retry(|| user.file().read_at(buffer, offset)))
        };
        let permit = descriptor.permit_read_at(buffer.len());
        let (answer, buffer) =
            descriptor.driver().run_inline(permit, descriptor.port(), request, buffer, attempt, work).await;
        (answer, buffer.unwrap_or_default())
    }

    /// Writes `buffer[..]` at an offset. Returns the count of bytes written, which may be fewer, and the buffer, as
    /// [`read_at`](File::read_at) does.
    pub async fn write_at(&self, buffer: Vec<u8>, offset: u64) -> (io::Result<usize>, Vec<u8>) {
        let request = self.positional(Command::Pwritev, buffer.len(), offset);
        let descriptor = &self.descriptor;
        let attempt = |request: &Request, buffer: &mut Vec<u8>, _: &mut Trial| {
            request.moving(descriptor.try_write(buffer, Some(offset)))
        };
        let work = || {
            let user = Arc::clone(descriptor);
            move |request: &Request, buffer: &mut Vec<u8>| {
                request.moving(retry(|| user.file().write_at(buffer, offset)))
            }
        };
        let permit = descriptor.permit_write_at(buffer.len());
        let (answer, buffer) =
            descriptor.driver().run_inline(permit, descriptor.port(), request, buffer, attempt, work).await;
        (answer, buffer.unwrap_or_default())
    }

    pub(super) fn positional(&self, command: Command, size: usize, offset: u64) -> Request {
        self.descriptor.request_with_flags(command).i3(size as i64).i4(offset as i64)
    }
}

fn retry(mut work: impl FnMut() -> io::Result<usize>) -> io::Result<usize> {
    loop {
        match work() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            answer => return answer,
        }
    }
}
