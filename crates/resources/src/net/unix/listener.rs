//! Listeners.

use std::io;
use std::panic::Location;
use std::path::Path;
use std::task::{Context, Poll};

use tokio::net::unix::SocketAddr;

use super::super::by_tokio::{same, socket};
use super::super::socket::{Endpoint, Socket};
use super::address::{as_path, text};
use super::stream::UnixStream;
use dyntrace_processes::waiting::ResourceKind;

/// A [`tokio::net::UnixListener`] that shows the tasks that wait for its connections.
pub struct UnixListener(Socket<tokio::net::UnixListener>);

impl Endpoint for tokio::net::UnixListener {
    const KIND: ResourceKind = ResourceKind::UnixListener;
    const READS: &'static str = "UnixListener::accept";
    const WRITES: &'static str = "UnixListener::accept";

    fn name(&self) -> Option<String> {
        text(&self.local_addr().ok()?)
    }
}

socket!(UnixListener, std::os::unix::net::UnixListener);

impl UnixListener {
    /// Listens at this path. On Linux, a path that begins with a NUL is a name without a file.
    ///
    /// # Panics
    ///
    /// Panics outside of a tokio runtime with I/O.
    #[track_caller]
    pub fn bind<P: AsRef<Path>>(path: P) -> io::Result<UnixListener> {
        Ok(UnixListener::from(tokio::net::UnixListener::bind(path)?))
    }

    /// Listens at this address, as [`bind`](UnixListener::bind).
    ///
    /// # Panics
    ///
    /// Panics outside of a tokio runtime with I/O.
    #[track_caller]
    pub fn bind_addr(socket_addr: &SocketAddr) -> io::Result<UnixListener> {
        UnixListener::bind(as_path(socket_addr))
    }

    /// Accepts a connection, once there is one. Returns it with the peer's address.
    ///
    /// # Cancellation
    ///
    /// Dropping the future loses no connection.
    #[track_caller]
    pub fn accept(&self) -> impl Future<Output = io::Result<(UnixStream, SocketAddr)>> {
        let place = Location::caller();
        let accepted = self.0.reads("UnixListener::accept", place, self.0.io.accept());
        async move {
            let (io, address) = accepted.await?;
            Ok((UnixStream::made(io, place), address))
        }
    }

    /// [`accept`](UnixListener::accept), for futures written by hand. Shows the wait as the [module's documentation](crate::net) says.
    #[track_caller]
    pub fn poll_accept(&self, cx: &mut Context<'_>) -> Poll<io::Result<(UnixStream, SocketAddr)>> {
        let place = Location::caller();
        let answer = self.0.polled_read(self.0.io.poll_accept(cx));
        answer.map_ok(|(io, address)| (UnixStream::made(io, place), address))
    }

    same! { "UnixListener":
        fn local_addr(&self) -> io::Result<SocketAddr>;
        fn take_error(&self) -> io::Result<Option<io::Error>>;
    }
}
