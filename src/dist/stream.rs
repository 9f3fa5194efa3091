//! A socket as the handshake wants it, which also tells how far the handshake got.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};

use futures::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;

/// Shared, so that one is kept while the handshake has the other.
#[derive(Clone, Debug)]
pub(super) struct Stream {
    socket: Arc<TcpStream>,
    read: Arc<AtomicUsize>,
}

impl Stream {
    pub(super) fn new(socket: TcpStream) -> Stream {
        Stream { socket: Arc::new(socket), read: Arc::default() }
    }

    /// How many bytes have come.
    pub(super) fn read(&self) -> usize {
        self.read.load(Ordering::Relaxed)
    }

    /// The socket, once the handshake has given back its own.
    pub(super) fn into_socket(self) -> Option<TcpStream> {
        Arc::into_inner(self.socket)
    }
}

impl AsyncRead for Stream {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut [u8]) -> Poll<io::Result<usize>> {
        loop {
            ready!(self.socket.poll_read_ready(context))?;
            match self.socket.try_read(buffer) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                done => {
                    self.read.fetch_add(*done.as_ref().unwrap_or(&0), Ordering::Relaxed);
                    return Poll::Ready(done);
                }
            }
        }
    }
}

impl AsyncWrite for Stream {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.poll_write_vectored(context, &[IoSlice::new(bytes)])
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        loop {
            ready!(self.socket.poll_write_ready(context))?;
            match self.socket.try_write_vectored(bytes) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                done => return Poll::Ready(done),
            }
        }
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    /// Dropping the last one closes the socket.
    fn poll_close(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
