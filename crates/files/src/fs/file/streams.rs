//! `READ`, `WRITE`, `LSEEK`: tokio's traits, at the file's cursor.

use std::io::{self, IoSlice, SeekFrom};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncSeek, AsyncWrite, ReadBuf};

use super::cursor::Finished;
use super::open_file::File;

impl AsyncRead for File {
    /// Makes one READ, unless bytes of an earlier one are left. Dropping the read loses nothing: the next one gets its bytes.
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let max_size = self.max_buf_size;
        let cursor = self.cursor.get_mut();
        while into.remaining() > 0 {
            match ready!(cursor.poll_idle(cx)) {
                Some(Finished::Read(Err(error))) => return Poll::Ready(Err(error)),
                Some(Finished::Read(Ok(0))) if cursor.unread().is_empty() => break,
                _ => {}
            }
            if cursor.must_write_first() {
                ready!(cursor.poll_written(cx))?;
            }
            let unread = cursor.unread();
            if !unread.is_empty() {
                let count = unread.len().min(into.remaining());
                into.put_slice(&unread[..count]);
                cursor.consume(count);
                break;
            }
            let before = into.remaining();
            if let Some(answer) = ready!(cursor.poll_begin_read(into, max_size, cx)) {
                let is_at_end = answer? == 0 && cursor.unread().is_empty();
                if is_at_end || into.remaining() < before {
                    break;
                }
            }
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for File {
    /// Makes one WRITE of at most [`max_buf_size`](File::max_buf_size), which is accepted at once if no operation is in flight, unless the
    /// task must yield. Returns the error of an earlier one.
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, from: &[u8]) -> Poll<io::Result<usize>> {
        let max_size = self.max_buf_size;
        let cursor = self.cursor.get_mut();
        ready!(cursor.poll_written(cx))?;
        cursor.poll_write(from, max_size, cx).map(Ok)
    }

    /// As `poll_write`, with one WRITE for all the buffers.
    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        from: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let max_size = self.max_buf_size;
        let cursor = self.cursor.get_mut();
        ready!(cursor.poll_written(cx))?;
        Poll::Ready(Ok(cursor.begin_write(from.iter().map(|part| &part[..]), max_size)))
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    /// Waits for the write in flight, or retries the unwritten bytes of a failed one. Does not sync to the disk: `sync_all` and
    /// `sync_data` do.
    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.cursor.get_mut().poll_written(cx)
    }

    /// Flushes; the file stays open.
    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_flush(cx)
    }
}

impl AsyncSeek for File {
    /// Makes one LSEEK, which begins when [`poll_complete`](AsyncSeek::poll_complete) is called. Discards the unwritten bytes of a failed
    /// write. Fails if an operation is in flight: call `poll_complete` before.
    fn start_seek(mut self: Pin<&mut Self>, to: SeekFrom) -> io::Result<()> {
        let cursor = self.cursor.get_mut();
        if !cursor.is_idle() {
            return Err(io::Error::other(
                "an operation of the file is in flight: call poll_complete before start_seek",
            ));
        }
        cursor.seek(to);
        Ok(())
    }

    /// Waits for the operation in flight. Returns the error of an earlier write.
    fn poll_complete(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<u64>> {
        self.cursor.get_mut().poll_position(cx)
    }
}
