//! `READ`, `WRITE`, `LSEEK`: tokio's traits, on the file's cursor.

use std::io::{self, SeekFrom};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncSeek, AsyncWrite, ReadBuf};

use super::File;
use super::cursor::Finished;

impl AsyncRead for File {
    /// One READ, unless bytes of an earlier one are left. Dropping the read loses nothing: the next one gets its bytes.
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let cursor = self.cursor.get_mut();
        while into.remaining() > 0 {
            match ready!(cursor.poll_idle(cx)) {
                Some(Finished::Read(Err(error))) => return Poll::Ready(Err(error)),
                Some(Finished::Read(Ok(0))) if cursor.unread().is_empty() => break,
                _ => {}
            }
            let unread = cursor.unread();
            if !unread.is_empty() {
                let count = unread.len().min(into.remaining());
                into.put_slice(&unread[..count]);
                cursor.consume(count);
                break;
            }
            cursor.begin_read(into.remaining());
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for File {
    /// One WRITE of at most 2 MiB, which is accepted at once if none is in flight. Gives the error of an earlier one.
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, from: &[u8]) -> Poll<io::Result<usize>> {
        let cursor = self.cursor.get_mut();
        ready!(cursor.poll_written(cx))?;
        Poll::Ready(Ok(if from.is_empty() { 0 } else { cursor.begin_write(from) }))
    }

    /// Waits for the write in flight. Brings nothing to the disk: that is for `sync_all` and `sync_data`.
    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.cursor.get_mut().poll_written(cx)
    }

    /// The same as flush: the file stays open.
    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_flush(cx)
    }
}

impl AsyncSeek for File {
    /// One LSEEK, which begins when [`poll_complete`](AsyncSeek::poll_complete) is called. An error if an operation is in
    /// flight: `poll_complete` must have said that none is.
    fn start_seek(mut self: Pin<&mut Self>, to: SeekFrom) -> io::Result<()> {
        let cursor = self.cursor.get_mut();
        if !cursor.is_idle() {
            return Err(io::Error::other(
                "an operation of the file is in flight: call poll_complete before start_seek",
            ));
        }
        cursor.begin_seek(to);
        Ok(())
    }

    /// Waits for the operation in flight. Gives the error of an earlier write.
    fn poll_complete(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<u64>> {
        self.cursor.get_mut().poll_position(cx)
    }
}
