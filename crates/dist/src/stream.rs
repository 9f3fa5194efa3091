//! A socket as the handshake wants it, which also tells how far the handshake got.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use dyntrace_probes::primitives::{Mutex, lock};
use futures::io::{AsyncRead, AsyncWrite};
use tokio::io::ReadBuf;

use super::lengths::Lengths;
use super::socket::Socket;

/// Shared: the node keeps one reference while the handshake has the other.
#[derive(Debug)]
pub(super) struct Stream<S> {
    shared: Arc<Mutex<Shared<S>>>,
}

impl<S> Clone for Stream<S> {
    fn clone(&self) -> Self {
        Stream { shared: self.shared.clone() }
    }
}

#[derive(Debug)]
struct Shared<S> {
    socket: S,
    /// How many bytes have come.
    read: usize,
    /// Over TLS.
    lengths: Option<Lengths>,
}

impl Stream<Socket> {
    pub(super) fn new(socket: Socket) -> Self {
        let is_plain = socket.is_plain();
        Stream::over(socket, !is_plain)
    }
}

impl<S> Stream<S> {
    /// `long` says whether the handshake's messages have lengths of four bytes.
    pub(super) fn over(socket: S, long: bool) -> Self {
        let lengths = long.then(Lengths::default);
        Stream { shared: Arc::new(Mutex::new(Shared { socket, read: 0, lengths })) }
    }

    /// How many bytes have come.
    pub(super) fn read(&self) -> usize {
        lock(&self.shared).read
    }

    /// The socket, once the handshake has given back its own.
    pub(super) fn into_socket(self) -> Option<S> {
        let shared = Arc::into_inner(self.shared)?;
        Some(shared.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner()).socket)
    }
}

impl<S: tokio::io::AsyncRead + Unpin> AsyncRead for Stream<S> {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut [u8]) -> Poll<io::Result<usize>> {
        let mut shared = lock(&self.shared);
        let Shared { socket, read, lengths } = &mut *shared;
        let count = match lengths {
            Some(lengths) => ready!(lengths.poll_read(socket, context, buffer))?,
            None => {
                let mut buffer = ReadBuf::new(buffer);
                ready!(Pin::new(socket).poll_read(context, &mut buffer))?;
                buffer.filled().len()
            }
        };
        *read += count;
        Poll::Ready(Ok(count))
    }
}

impl<S: tokio::io::AsyncWrite + Unpin> AsyncWrite for Stream<S> {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let mut shared = lock(&self.shared);
        let Shared { socket, lengths, .. } = &mut *shared;
        match lengths {
            Some(lengths) => lengths.poll_write(socket, context, bytes),
            None => Pin::new(socket).poll_write(context, bytes),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut shared = lock(&self.shared);
        let Shared { socket, lengths, .. } = &mut *shared;
        match lengths {
            Some(lengths) => lengths.poll_flush(socket, context),
            None => Pin::new(socket).poll_flush(context),
        }
    }

    /// Dropping the last one closes the socket.
    fn poll_close(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
