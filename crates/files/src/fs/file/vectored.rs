//! `PREADV`, `PWRITEV`: File::read_vectored_at and File::write_vectored_at.

use std::io::{self, IoSlice, IoSliceMut};

use rustix::io::retry_on_intr;

use super::open_file::File;
use crate::efile::{Command, Request};

/// The most buffers per system call on the supported systems (POSIX: at least 16).
const MOST_BUFFERS: usize = 1024;

impl File {
    /// Reads at an offset into one buffer after the other, each up to its length, in one operation. Returns the count of bytes and the
    /// buffers.
    ///
    /// Otherwise as [`read_at`](File::read_at): a short read is no error, and the buffers keep their lengths. Only the first 1024
    /// buffers that are not empty are filled.
    pub async fn read_vectored_at(&self, buffers: Vec<Vec<u8>>, offset: u64) -> (io::Result<usize>, Vec<Vec<u8>>) {
        let request = self.positional(Command::Preadv, total(&buffers), offset);
        let read = move |file: &std::fs::File, request: &Request, buffers: &mut Vec<Vec<u8>>| {
            let mut parts: Vec<_> = buffers
                .iter_mut()
                .filter(|buffer| !buffer.is_empty())
                .map(|buffer| IoSliceMut::new(buffer))
                .take(MOST_BUFFERS)
                .collect();
            Ok(request.moving(retry_on_intr(|| rustix::io::preadv(file, &mut parts, offset)))?)
        };
        let (answer, buffers) = self.run_with(request, buffers, read).await;
        (answer, buffers.unwrap_or_default())
    }

    /// Writes one buffer after the other at an offset, in one operation. Returns the count of bytes written, which may be fewer, and the
    /// buffers, as [`read_vectored_at`](File::read_vectored_at) does.
    ///
    /// ```
    /// # async fn example(file: dyntrace::fs::File) -> std::io::Result<()> {
    /// let (count, buffers) = file.write_vectored_at(vec![b"header".to_vec(), vec![0; 4096]], 8192).await;
    /// assert_eq!(count?, 6 + 4096);
    /// # Ok(()) }
    /// ```
    pub async fn write_vectored_at(&self, buffers: Vec<Vec<u8>>, offset: u64) -> (io::Result<usize>, Vec<Vec<u8>>) {
        let request = self.positional(Command::Pwritev, total(&buffers), offset);
        let write = move |file: &std::fs::File, request: &Request, buffers: &mut Vec<Vec<u8>>| {
            let parts: Vec<_> = buffers
                .iter()
                .filter(|buffer| !buffer.is_empty())
                .map(|buffer| IoSlice::new(buffer))
                .take(MOST_BUFFERS)
                .collect();
            Ok(request.moving(retry_on_intr(|| rustix::io::pwritev(file, &parts, offset)))?)
        };
        let (answer, buffers) = self.run_with(request, buffers, write).await;
        (answer, buffers.unwrap_or_default())
    }
}

fn total(buffers: &[Vec<u8>]) -> usize {
    buffers.iter().map(Vec::len).sum()
}
