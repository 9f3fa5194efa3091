//! Sockets before they listen or connect.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, IntoRawFd, RawFd};
use std::panic::Location;
use std::time::Duration;

use super::super::by_tokio::{options_of_ip, same};
use super::super::connecting::Connecting;
use super::listener::TcpListener;
use super::stream::TcpStream;
use dyntrace_processes::waiting::ResourceKind;

/// A [`tokio::net::TcpSocket`], from which listeners and streams are made that show waits.
///
/// ```
/// use dyntrace::net::TcpSocket;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let socket = TcpSocket::new_v4()?;
/// socket.bind("127.0.0.1:0".parse()?)?;
/// let listener = socket.listen(16)?;
/// let client = TcpSocket::new_v4()?.connect(listener.local_addr()?).await?;
/// assert_eq!(client.peer_addr()?, listener.local_addr()?);
/// # Ok(())
/// # }
/// ```
pub struct TcpSocket(Inner);

struct Inner {
    io: tokio::net::TcpSocket,
}

impl From<tokio::net::TcpSocket> for TcpSocket {
    fn from(io: tokio::net::TcpSocket) -> TcpSocket {
        TcpSocket(Inner { io })
    }
}

impl TcpSocket {
    /// Creates a socket for IPv4.
    pub fn new_v4() -> io::Result<TcpSocket> {
        tokio::net::TcpSocket::new_v4().map(TcpSocket::from)
    }

    /// Creates a socket for IPv6.
    pub fn new_v6() -> io::Result<TcpSocket> {
        tokio::net::TcpSocket::new_v6().map(TcpSocket::from)
    }

    /// Takes a stream of the standard library that is not connected yet. It must be in nonblocking mode.
    pub fn from_std_stream(std_stream: std::net::TcpStream) -> TcpSocket {
        tokio::net::TcpSocket::from_std_stream(std_stream).into()
    }

    /// Returns tokio's socket.
    pub fn into_inner(self) -> tokio::net::TcpSocket {
        self.0.io
    }

    /// Connects to this address.
    ///
    /// # Cancellation
    ///
    /// Dropping the future closes the socket.
    #[track_caller]
    pub fn connect(self, addr: SocketAddr) -> impl Future<Output = io::Result<TcpStream>> {
        let place = Location::caller();
        async move {
            let connecting = Connecting::new(ResourceKind::TcpSocket, place, || Some(addr.to_string()));
            let io = connecting.connect("TcpSocket::connect", self.0.io.connect(addr)).await?;
            drop(connecting);
            Ok(TcpStream::made(io, place))
        }
    }

    /// Listens. `backlog` is the number of connections that the system keeps until they are accepted.
    #[track_caller]
    pub fn listen(self, backlog: u32) -> io::Result<TcpListener> {
        Ok(TcpListener::from(self.0.io.listen(backlog)?))
    }

    same! { "TcpSocket":
        fn bind(&self, addr: SocketAddr) -> io::Result<()>;
        fn local_addr(&self) -> io::Result<SocketAddr>;
        fn take_error(&self) -> io::Result<Option<io::Error>>;
        fn keepalive(&self) -> io::Result<bool>;
        fn set_keepalive(&self, keepalive: bool) -> io::Result<()>;
        fn reuseaddr(&self) -> io::Result<bool>;
        fn set_reuseaddr(&self, reuseaddr: bool) -> io::Result<()>;
        #[cfg(not(any(target_os = "illumos", target_os = "solaris")))]
        fn reuseport(&self) -> io::Result<bool>;
        #[cfg(not(any(target_os = "illumos", target_os = "solaris")))]
        fn set_reuseport(&self, reuseport: bool) -> io::Result<()>;
        fn send_buffer_size(&self) -> io::Result<u32>;
        fn set_send_buffer_size(&self, size: u32) -> io::Result<()>;
        fn recv_buffer_size(&self) -> io::Result<u32>;
        fn set_recv_buffer_size(&self, size: u32) -> io::Result<()>;
        fn linger(&self) -> io::Result<Option<Duration>>;
        #[deprecated = "dropping the socket blocks the thread"]
        #[allow(deprecated)]
        fn set_linger(&self, dur: Option<Duration>) -> io::Result<()>;
        fn set_zero_linger(&self) -> io::Result<()>;
        fn nodelay(&self) -> io::Result<bool>;
        fn set_nodelay(&self, nodelay: bool) -> io::Result<()>;
    }

    options_of_ip! { "TcpSocket" }
}

impl AsRawFd for TcpSocket {
    fn as_raw_fd(&self) -> RawFd {
        self.0.io.as_raw_fd()
    }
}

impl AsFd for TcpSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.io.as_fd()
    }
}

impl IntoRawFd for TcpSocket {
    fn into_raw_fd(self) -> RawFd {
        self.0.io.into_raw_fd()
    }
}

impl FromRawFd for TcpSocket {
    unsafe fn from_raw_fd(fd: RawFd) -> TcpSocket {
        // SAFETY: as the caller promises.
        unsafe { tokio::net::TcpSocket::from_raw_fd(fd) }.into()
    }
}

impl fmt::Debug for TcpSocket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.io.fmt(f)
    }
}
