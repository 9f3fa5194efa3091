//! The socket of a connection: TCP, or TLS over TCP.

use std::io::{self, IoSlice};
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

#[derive(Debug)]
pub(super) enum Socket {
    Plain(TcpStream),
    #[cfg(feature = "tls")]
    Tls(Box<tokio_rustls::TlsStream<TcpStream>>),
}

pub(super) type Reading = Box<dyn AsyncRead + Send + Unpin>;
pub(super) type Writing = Box<dyn AsyncWrite + Send + Unpin>;

impl Socket {
    /// The TCP socket, or the one below TLS.
    pub(super) fn tcp(&self) -> &TcpStream {
        match self {
            Socket::Plain(socket) => socket,
            #[cfg(feature = "tls")]
            Socket::Tls(socket) => socket.get_ref().0,
        }
    }

    /// The address of the peer, for messages.
    pub(super) fn peer(&self) -> String {
        self.tcp().peer_addr().map_or_else(|_| "a peer".to_owned(), |address: SocketAddr| address.to_string())
    }

    pub(super) fn is_plain(&self) -> bool {
        matches!(self, Socket::Plain(_))
    }

    /// Splits it for the two tasks of a connection.
    pub(super) fn split(self) -> (Reading, Writing) {
        match self {
            Socket::Plain(socket) => {
                let (reading, writing) = socket.into_split();
                (Box::new(reading), Box::new(writing))
            }
            #[cfg(feature = "tls")]
            Socket::Tls(socket) => {
                let (reading, writing) = tokio::io::split(socket);
                (Box::new(reading), Box::new(writing))
            }
        }
    }
}

macro_rules! either {
    ($self:ident, $socket:ident => $do:expr) => {
        match $self.get_mut() {
            Socket::Plain($socket) => {
                let $socket = Pin::new($socket);
                $do
            }
            #[cfg(feature = "tls")]
            Socket::Tls($socket) => {
                let $socket = Pin::new($socket);
                $do
            }
        }
    };
}

impl AsyncRead for Socket {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        either!(self, socket => socket.poll_read(context, buffer))
    }
}

impl AsyncWrite for Socket {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        either!(self, socket => socket.poll_write(context, bytes))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        either!(self, socket => socket.poll_write_vectored(context, bytes))
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        either!(self, socket => socket.poll_flush(context))
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        either!(self, socket => socket.poll_shutdown(context))
    }
}
