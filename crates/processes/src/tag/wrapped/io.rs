//! tokio's traits of readers and writers.

use std::io::{self, IoSlice, SeekFrom};
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncBufRead, AsyncRead, AsyncSeek, AsyncWrite, ReadBuf};

use super::WithTag;

impl<R: AsyncRead> AsyncRead for WithTag<R> {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        self.in_scope(|reader| reader.poll_read(context, into))
    }
}

impl<R: AsyncBufRead> AsyncBufRead for WithTag<R> {
    fn poll_fill_buf(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<&[u8]>> {
        self.in_scope(|reader| reader.poll_fill_buf(context))
    }

    fn consume(self: Pin<&mut Self>, count: usize) {
        self.in_scope(|reader| reader.consume(count));
    }
}

impl<S: AsyncSeek> AsyncSeek for WithTag<S> {
    fn start_seek(self: Pin<&mut Self>, to: SeekFrom) -> io::Result<()> {
        self.in_scope(|seeker| seeker.start_seek(to))
    }

    fn poll_complete(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<u64>> {
        self.in_scope(|seeker| seeker.poll_complete(context))
    }
}

impl<W: AsyncWrite> AsyncWrite for WithTag<W> {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, from: &[u8]) -> Poll<io::Result<usize>> {
        self.in_scope(|writer| writer.poll_write(context, from))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        from: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.in_scope(|writer| writer.poll_write_vectored(context, from))
    }

    fn is_write_vectored(&self) -> bool {
        self.get_ref().is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.in_scope(|writer| writer.poll_flush(context))
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.in_scope(|writer| writer.poll_shutdown(context))
    }
}
