//! Streams.

use std::io::{self, IoSlice, IoSliceMut};
use std::net::SocketAddr;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::BufMut;
use tokio::io::{AsyncRead, AsyncWrite, Interest, ReadBuf, Ready};
use tokio::net::ToSocketAddrs;

use super::super::by_tokio::{polls, same, socket, waits};
use super::super::connecting::Connecting;
use super::super::lookup::resolve;
use super::super::socket::{Endpoint, Socket};
use super::super::stream::stream;
use super::split::{OwnedReadHalf, OwnedWriteHalf, ReadHalf, WriteHalf, into_split, split};
use dyntrace_processes::waiting::ResourceKind;

/// A [`tokio::net::TcpStream`] that shows the tasks that wait for it.
///
/// ```
/// use dyntrace::net::{TcpListener, TcpStream};
/// use tokio::io::{AsyncReadExt, AsyncWriteExt};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> std::io::Result<()> {
/// let listener = TcpListener::bind("127.0.0.1:0").await?;
/// let mut client = TcpStream::connect(listener.local_addr()?).await?;
/// let (mut server, _) = listener.accept().await?;
/// client.write_all(b"rye").await?;
/// let mut bread = [0; 3];
/// server.read_exact(&mut bread).await?;
/// assert_eq!(&bread, b"rye");
/// # Ok(())
/// # }
/// ```
pub struct TcpStream(pub(super) Socket<tokio::net::TcpStream>);

impl Endpoint for tokio::net::TcpStream {
    const KIND: ResourceKind = ResourceKind::TcpStream;
    const READS: &'static str = "TcpStream::read";
    const WRITES: &'static str = "TcpStream::write";

    fn name(&self) -> Option<String> {
        Some(format!("{} to {}", self.local_addr().ok()?, self.peer_addr().ok()?))
    }
}

socket!(TcpStream, std::net::TcpStream);
stream!("TcpStream", TcpStream, SocketAddr);

impl TcpStream {
    /// Connects to the first of these addresses that accepts. Tracers see one resource for each address that it tries.
    ///
    /// # Errors
    ///
    /// A name has no address, or the error of the last address.
    ///
    /// # Cancellation
    ///
    /// Dropping the future closes the connection.
    #[track_caller]
    pub fn connect<A: ToSocketAddrs>(addr: A) -> impl Future<Output = io::Result<TcpStream>> {
        let place = Location::caller();
        async move {
            let mut last = None;
            for address in resolve("TcpStream::connect", place, addr).await? {
                let connecting = Connecting::new(ResourceKind::TcpSocket, place, || Some(address.to_string()));
                match connecting.connect("TcpStream::connect", tokio::net::TcpStream::connect(address)).await {
                    Ok(io) => {
                        drop(connecting);
                        return Ok(TcpStream::made(io, place));
                    }
                    Err(error) => last = Some(error),
                }
            }
            let none = || io::Error::new(io::ErrorKind::InvalidInput, "could not resolve to any address");
            Err(last.unwrap_or_else(none))
        }
    }

    same! { "TcpStream":
        fn nodelay(&self) -> io::Result<bool>;
        fn set_nodelay(&self, nodelay: bool) -> io::Result<()>;
        #[cfg(any(target_os = "android", target_os = "linux"))]
        fn quickack(&self) -> io::Result<bool>;
        #[cfg(any(target_os = "android", target_os = "linux"))]
        fn set_quickack(&self, quickack: bool) -> io::Result<()>;
        fn linger(&self) -> io::Result<Option<Duration>>;
        #[deprecated = "dropping the socket blocks the thread"]
        #[allow(deprecated)]
        fn set_linger(&self, dur: Option<Duration>) -> io::Result<()>;
        fn set_zero_linger(&self) -> io::Result<()>;
        fn ttl(&self) -> io::Result<u32>;
        fn set_ttl(&self, ttl: u32) -> io::Result<()>;
    }

    waits! { "TcpStream":
        reads peek(&self, buf: &mut [u8]) -> io::Result<usize>;
    }

    polls! { "TcpStream":
        polled_read poll_peek(&self, cx, buf: &mut ReadBuf<'_>) -> io::Result<usize>;
    }
}
