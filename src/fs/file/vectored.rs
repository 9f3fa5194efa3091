//! `PREADV`, `PWRITEV`: File::read_vectored_at and File::write_vectored_at.

use std::io::{self, IoSlice, IoSliceMut};

use rustix::io::retry_on_intr;

use super::File;
use crate::efile::Command;

/// How many buffers the system takes at once: that of the systems we know; POSIX has 16 at least.
const MOST_BUFFERS: usize = 1024;

impl File {
    /// Reads at an offset into one buffer after the other, each up to its length, in one operation; gives the buffers back
    /// with the count of bytes.
    ///
    /// All else is as in [`read_at`](File::read_at): fewer bytes are no error, and the buffers keep their lengths. Buffers
    /// behind the first 1024 that are not empty are left for another read.
    pub async fn read_vectored_at(&self, buffers: Vec<Vec<u8>>, offset: u64) -> (io::Result<usize>, Vec<Vec<u8>>) {
        let request = self.positional(Command::Preadv, total(&buffers), offset);
        let read = move |file: &std::fs::File, buffers: &mut Vec<Vec<u8>>| {
            let mut parts: Vec<_> = buffers
                .iter_mut()
                .filter(|buffer| !buffer.is_empty())
                .map(|buffer| IoSliceMut::new(buffer))
                .take(MOST_BUFFERS)
                .collect();
            Ok(retry_on_intr(|| rustix::io::preadv(file, &mut parts, offset))?)
        };
        let (answer, buffers) = self.run_with(request, buffers, read).await;
        (answer, buffers.unwrap_or_default())
    }

    /// Writes one buffer after the other at an offset, in one operation, and gives them back with the count of bytes that
    /// were written, which may be fewer. Of the buffers the same is true as in
    /// [`read_vectored_at`](File::read_vectored_at).
    ///
    /// ```
    /// # async fn example(file: dyntrace::fs::File) -> std::io::Result<()> {
    /// let (count, buffers) = file.write_vectored_at(vec![b"header".to_vec(), vec![0; 4096]], 8192).await;
    /// assert_eq!(count?, 6 + 4096);
    /// # Ok(()) }
    /// ```
    pub async fn write_vectored_at(&self, buffers: Vec<Vec<u8>>, offset: u64) -> (io::Result<usize>, Vec<Vec<u8>>) {
        let request = self.positional(Command::Pwritev, total(&buffers), offset);
        let write = move |file: &std::fs::File, buffers: &mut Vec<Vec<u8>>| {
            let parts: Vec<_> = buffers
                .iter()
                .filter(|buffer| !buffer.is_empty())
                .map(|buffer| IoSlice::new(buffer))
                .take(MOST_BUFFERS)
                .collect();
            Ok(retry_on_intr(|| rustix::io::pwritev(file, &parts, offset))?)
        };
        let (answer, buffers) = self.run_with(request, buffers, write).await;
        (answer, buffers.unwrap_or_default())
    }
}

fn total(buffers: &[Vec<u8>]) -> usize {
    buffers.iter().map(Vec::len).sum()
}
