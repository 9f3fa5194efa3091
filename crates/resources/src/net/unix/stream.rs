//! Streams.

use std::io::{self, IoSlice, IoSliceMut};
use std::panic::Location;
use std::path::Path;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::BufMut;
use tokio::io::{AsyncRead, AsyncWrite, Interest, ReadBuf, Ready};
use tokio::net::unix::{SocketAddr, UCred};

use super::super::by_tokio::{same, socket};
use super::super::connecting::Connecting;
use super::super::socket::{Endpoint, Socket};
use super::super::stream::stream;
use super::address::{as_path, of_path, texts};
use super::split::{OwnedReadHalf, OwnedWriteHalf, ReadHalf, WriteHalf, into_split, split};
use dyntrace_processes::waiting::ResourceKind;

/// A [`tokio::net::UnixStream`] that shows the tasks that wait for it.
///
/// ```
/// use dyntrace::net::UnixStream;
/// use tokio::io::{AsyncReadExt, AsyncWriteExt};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> std::io::Result<()> {
/// let (mut one, mut other) = UnixStream::pair()?;
/// one.write_all(b"rye").await?;
/// let mut bread = [0; 3];
/// other.read_exact(&mut bread).await?;
/// assert_eq!(&bread, b"rye");
/// # Ok(())
/// # }
/// ```
pub struct UnixStream(pub(super) Socket<tokio::net::UnixStream>);

impl Endpoint for tokio::net::UnixStream {
    const KIND: ResourceKind = ResourceKind::UnixStream;
    const READS: &'static str = "UnixStream::read";
    const WRITES: &'static str = "UnixStream::write";

    fn name(&self) -> Option<String> {
        texts(self.local_addr(), self.peer_addr())
    }
}

socket!(UnixStream, std::os::unix::net::UnixStream);
stream!("UnixStream", UnixStream, SocketAddr);

impl UnixStream {
    /// Connects to the socket at this path. On Linux, a path that begins with a NUL is a name without a file.
    ///
    /// # Cancellation
    ///
    /// Dropping the future closes the connection.
    #[track_caller]
    pub fn connect<P: AsRef<Path>>(path: P) -> impl Future<Output = io::Result<UnixStream>> {
        let place = Location::caller();
        async move { connect("UnixStream::connect", place, path.as_ref()).await }
    }

    /// Connects to the socket at this address, as [`connect`](UnixStream::connect).
    #[track_caller]
    pub fn connect_addr(socket_addr: &SocketAddr) -> impl Future<Output = io::Result<UnixStream>> {
        let place = Location::caller();
        async move { connect("UnixStream::connect_addr", place, &as_path(socket_addr)).await }
    }

    /// Creates two streams that are connected to each other.
    #[track_caller]
    pub fn pair() -> io::Result<(UnixStream, UnixStream)> {
        let (one, other) = tokio::net::UnixStream::pair()?;
        Ok((UnixStream::from(one), UnixStream::from(other)))
    }

    same! { "UnixStream":
        fn peer_cred(&self) -> io::Result<UCred>;
    }
}

async fn connect(operation: &'static str, place: &'static Location<'static>, path: &Path) -> io::Result<UnixStream> {
    let connecting = Connecting::new(ResourceKind::UnixSocket, place, || Some(of_path(path)));
    let io = connecting.connect(operation, tokio::net::UnixStream::connect(path)).await?;
    drop(connecting);
    Ok(UnixStream::made(io, place))
}
