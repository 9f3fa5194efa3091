//! Listeners.

use std::io;
use std::net::SocketAddr;
use std::panic::Location;
use std::task::{Context, Poll};

use tokio::net::ToSocketAddrs;

use super::super::by_tokio::{same, socket};
use super::super::socket::{Endpoint, Socket};
use super::stream::TcpStream;
use dyntrace_processes::waiting::{Resolver, ResourceKind, Waiting};

/// A [`tokio::net::TcpListener`] that shows the tasks that wait for its connections.
///
/// ```
/// use dyntrace::net::{TcpListener, TcpStream};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> std::io::Result<()> {
/// let listener = TcpListener::bind("127.0.0.1:0").await?;
/// let client = TcpStream::connect(listener.local_addr()?).await?;
/// let (server, address) = listener.accept().await?;
/// assert_eq!((server.peer_addr()?, client.local_addr()?), (address, address));
/// # Ok(())
/// # }
/// ```
pub struct TcpListener(Socket<tokio::net::TcpListener>);

impl Endpoint for tokio::net::TcpListener {
    const KIND: ResourceKind = ResourceKind::TcpListener;
    const READS: &'static str = "TcpListener::accept";
    const WRITES: &'static str = "TcpListener::accept";

    fn name(&self) -> Option<String> {
        Some(self.local_addr().ok()?.to_string())
    }
}

socket!(TcpListener, std::net::TcpListener);

impl TcpListener {
    /// Listens on the first of these addresses that is free.
    ///
    /// # Errors
    ///
    /// A name has no address, or the error of the last address.
    #[track_caller]
    pub fn bind<A: ToSocketAddrs>(addr: A) -> impl Future<Output = io::Result<TcpListener>> {
        let place = Location::caller();
        let bound = Waiting::new(Resolver("TcpListener::bind"), place, tokio::net::TcpListener::bind(addr));
        async move { Ok(TcpListener::made(bound.await?, place)) }
    }

    /// Accepts a connection, once there is one. Returns it with the peer's address.
    ///
    /// # Cancellation
    ///
    /// Dropping the future loses no connection.
    #[track_caller]
    pub fn accept(&self) -> impl Future<Output = io::Result<(TcpStream, SocketAddr)>> {
        let place = Location::caller();
        let accepted = self.0.reads("TcpListener::accept", place, self.0.io.accept());
        async move {
            let (io, address) = accepted.await?;
            Ok((TcpStream::made(io, place), address))
        }
    }

    /// [`accept`](TcpListener::accept), for futures written by hand. Shows the wait as the [module's documentation](crate::net) says.
    #[track_caller]
    pub fn poll_accept(&self, cx: &mut Context<'_>) -> Poll<io::Result<(TcpStream, SocketAddr)>> {
        let place = Location::caller();
        let answer = self.0.polled_read(self.0.io.poll_accept(cx));
        answer.map_ok(|(io, address)| (TcpStream::made(io, place), address))
    }

    same! { "TcpListener":
        fn local_addr(&self) -> io::Result<SocketAddr>;
        fn ttl(&self) -> io::Result<u32>;
        fn set_ttl(&self, ttl: u32) -> io::Result<()>;
    }
}
