//! Sockets before they listen, connect or send.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, IntoRawFd, RawFd};
use std::panic::Location;
use std::path::Path;

use super::super::connecting::Connecting;
use super::address::of_path;
use super::datagram::UnixDatagram;
use super::listener::UnixListener;
use super::stream::UnixStream;
use dyntrace_processes::waiting::ResourceKind;

/// A [`tokio::net::UnixSocket`], from which sockets are made that show waits.
#[derive(Debug)]
pub struct UnixSocket {
    inner: tokio::net::UnixSocket,
}

impl From<tokio::net::UnixSocket> for UnixSocket {
    fn from(inner: tokio::net::UnixSocket) -> UnixSocket {
        UnixSocket { inner }
    }
}

impl UnixSocket {
    /// Creates a socket for datagrams.
    pub fn new_datagram() -> io::Result<UnixSocket> {
        tokio::net::UnixSocket::new_datagram().map(UnixSocket::from)
    }

    /// Creates a socket for a stream.
    pub fn new_stream() -> io::Result<UnixSocket> {
        tokio::net::UnixSocket::new_stream().map(UnixSocket::from)
    }

    /// Returns tokio's socket.
    pub fn into_inner(self) -> tokio::net::UnixSocket {
        self.inner
    }

    /// Binds the socket to this path.
    pub fn bind(&self, path: impl AsRef<Path>) -> io::Result<()> {
        self.inner.bind(path)
    }

    /// Listens. `backlog` is the number of connections that the system keeps until they are accepted.
    #[track_caller]
    pub fn listen(self, backlog: u32) -> io::Result<UnixListener> {
        Ok(UnixListener::from(self.inner.listen(backlog)?))
    }

    /// Connects to the socket at this path.
    ///
    /// # Cancellation
    ///
    /// Dropping the future closes the socket.
    #[track_caller]
    pub fn connect(self, path: impl AsRef<Path>) -> impl Future<Output = io::Result<UnixStream>> {
        let place = Location::caller();
        async move {
            let path = path.as_ref();
            let connecting = Connecting::new(ResourceKind::UnixSocket, place, || Some(of_path(path)));
            let io = connecting.connect("UnixSocket::connect", self.inner.connect(path)).await?;
            drop(connecting);
            Ok(UnixStream::made(io, place))
        }
    }

    /// Makes it a socket for datagrams.
    ///
    /// # Errors
    ///
    /// The socket is one for a stream.
    #[track_caller]
    pub fn datagram(self) -> io::Result<UnixDatagram> {
        Ok(UnixDatagram::from(self.inner.datagram()?))
    }
}

impl AsRawFd for UnixSocket {
    fn as_raw_fd(&self) -> RawFd {
        self.inner.as_raw_fd()
    }
}

impl AsFd for UnixSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.inner.as_fd()
    }
}

impl IntoRawFd for UnixSocket {
    fn into_raw_fd(self) -> RawFd {
        self.inner.into_raw_fd()
    }
}

impl FromRawFd for UnixSocket {
    unsafe fn from_raw_fd(fd: RawFd) -> UnixSocket {
        // SAFETY: as the caller promises.
        unsafe { tokio::net::UnixSocket::from_raw_fd(fd) }.into()
    }
}
