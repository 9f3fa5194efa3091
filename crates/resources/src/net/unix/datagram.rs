//! Datagrams.

use std::io;
use std::net::Shutdown;
use std::panic::Location;
use std::path::Path;
use std::task::{Context, Poll};

use bytes::BufMut;
use tokio::io::{Interest, ReadBuf, Ready};
use tokio::net::unix::SocketAddr;

use super::super::by_tokio::{same, socket, waits};
use super::super::datagram::datagrams;
use super::super::socket::{Endpoint, Socket};
use super::address::texts;
use dyntrace_processes::waiting::ResourceKind;

/// A [`tokio::net::UnixDatagram`] that shows the tasks that wait for it.
pub struct UnixDatagram(Socket<tokio::net::UnixDatagram>);

impl Endpoint for tokio::net::UnixDatagram {
    const KIND: ResourceKind = ResourceKind::UnixDatagram;
    const READS: &'static str = "UnixDatagram::recv";
    const WRITES: &'static str = "UnixDatagram::send";

    fn name(&self) -> Option<String> {
        texts(self.local_addr(), self.peer_addr())
    }
}

socket!(UnixDatagram, std::os::unix::net::UnixDatagram);
datagrams!("UnixDatagram", UnixDatagram, SocketAddr);

impl UnixDatagram {
    /// Creates a socket that is bound to this path.
    #[track_caller]
    pub fn bind<P: AsRef<Path>>(path: P) -> io::Result<UnixDatagram> {
        Ok(UnixDatagram::from(tokio::net::UnixDatagram::bind(path)?))
    }

    /// Creates two sockets that are connected to each other.
    #[track_caller]
    pub fn pair() -> io::Result<(UnixDatagram, UnixDatagram)> {
        let (one, other) = tokio::net::UnixDatagram::pair()?;
        Ok((UnixDatagram::from(one), UnixDatagram::from(other)))
    }

    /// Creates a socket without an address.
    #[track_caller]
    pub fn unbound() -> io::Result<UnixDatagram> {
        Ok(UnixDatagram::from(tokio::net::UnixDatagram::unbound()?))
    }

    same! { "UnixDatagram":
        fn connect<P: AsRef<Path>>(&self, path: P) -> io::Result<()>;
        fn try_send_to<P: AsRef<Path>>(&self, buf: &[u8], target: P) -> io::Result<usize>;
        fn shutdown(&self, how: Shutdown) -> io::Result<()>;
    }

    waits! { "UnixDatagram":
        writes send_to<P: AsRef<Path>>(&self, buf: &[u8], target: P) -> io::Result<usize>;
    }

    /// [`send_to`](UnixDatagram::send_to), for futures written by hand. Shows the wait as the [module's documentation](crate::net) says.
    pub fn poll_send_to<P: AsRef<Path>>(&self, cx: &mut Context<'_>, buf: &[u8], target: P) -> Poll<io::Result<usize>> {
        self.0.polled_write(self.0.io.poll_send_to(cx, buf, target))
    }
}
