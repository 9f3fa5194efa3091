//! UDP.

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::panic::Location;

use bytes::BufMut;
use tokio::io::{Interest, ReadBuf, Ready};
use tokio::net::ToSocketAddrs;

use super::by_tokio::{options_of_ip, polls, same, socket, waits};
use super::datagram::datagrams;
use super::socket::{Endpoint, Socket};
use dyntrace_processes::waiting::{Resolver, ResourceKind, Waiting};

/// A [`tokio::net::UdpSocket`] that shows the tasks that wait for it.
///
/// ```
/// use dyntrace::net::UdpSocket;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> std::io::Result<()> {
/// let (one, other) = (UdpSocket::bind("127.0.0.1:0").await?, UdpSocket::bind("127.0.0.1:0").await?);
/// one.send_to(b"rye", other.local_addr()?).await?;
/// let mut bread = [0; 8];
/// assert_eq!(other.recv_from(&mut bread).await?, (3, one.local_addr()?));
/// # Ok(())
/// # }
/// ```
pub struct UdpSocket(Socket<tokio::net::UdpSocket>);

impl Endpoint for tokio::net::UdpSocket {
    const KIND: ResourceKind = ResourceKind::UdpSocket;
    const READS: &'static str = "UdpSocket::recv";
    const WRITES: &'static str = "UdpSocket::send";

    fn name(&self) -> Option<String> {
        let local = self.local_addr().ok()?;
        Some(match self.peer_addr() {
            Ok(peer) => format!("{local} to {peer}"),
            Err(_) => local.to_string(),
        })
    }
}

socket!(UdpSocket, std::net::UdpSocket);
datagrams!("UdpSocket", UdpSocket, SocketAddr);

impl UdpSocket {
    /// Binds a socket to the first of these addresses that is free.
    ///
    /// # Errors
    ///
    /// A name has no address, or the error of the last address.
    #[track_caller]
    pub fn bind<A: ToSocketAddrs>(addr: A) -> impl Future<Output = io::Result<UdpSocket>> {
        let place = Location::caller();
        let bound = Waiting::new(Resolver("UdpSocket::bind"), place, tokio::net::UdpSocket::bind(addr));
        async move { Ok(UdpSocket::made(bound.await?, place)) }
    }

    /// Has the socket send to the first of these addresses that the system takes, and receive from it alone. A name that tracers have
    /// seen does not change.
    #[track_caller]
    pub fn connect<A: ToSocketAddrs>(&self, addr: A) -> impl Future<Output = io::Result<()>> {
        Waiting::new(Resolver("UdpSocket::connect"), Location::caller(), self.0.io.connect(addr))
    }

    waits! { "UdpSocket":
        writes send_to<A: ToSocketAddrs>(&self, buf: &[u8], target: A) -> io::Result<usize>;
        reads peek(&self, buf: &mut [u8]) -> io::Result<usize>;
        reads peek_from(&self, buf: &mut [u8]) -> io::Result<(usize, SocketAddr)>;
        reads peek_sender(&self) -> io::Result<SocketAddr>;
    }

    polls! { "UdpSocket":
        polled_write poll_send_to(&self, cx, buf: &[u8], target: SocketAddr) -> io::Result<usize>;
        polled_read poll_peek(&self, cx, buf: &mut ReadBuf<'_>) -> io::Result<()>;
        polled_read poll_peek_from(&self, cx, buf: &mut ReadBuf<'_>) -> io::Result<SocketAddr>;
        polled_read poll_peek_sender(&self, cx) -> io::Result<SocketAddr>;
    }

    same! { "UdpSocket":
        fn try_send_to(&self, buf: &[u8], target: SocketAddr) -> io::Result<usize>;
        fn try_peek(&self, buf: &mut [u8]) -> io::Result<usize>;
        fn try_peek_from(&self, buf: &mut [u8]) -> io::Result<(usize, SocketAddr)>;
        fn try_peek_sender(&self) -> io::Result<SocketAddr>;
        fn broadcast(&self) -> io::Result<bool>;
        fn set_broadcast(&self, on: bool) -> io::Result<()>;
        fn multicast_loop_v4(&self) -> io::Result<bool>;
        fn set_multicast_loop_v4(&self, on: bool) -> io::Result<()>;
        fn multicast_ttl_v4(&self) -> io::Result<u32>;
        fn set_multicast_ttl_v4(&self, ttl: u32) -> io::Result<()>;
        fn multicast_loop_v6(&self) -> io::Result<bool>;
        fn set_multicast_loop_v6(&self, on: bool) -> io::Result<()>;
        fn ttl(&self) -> io::Result<u32>;
        fn set_ttl(&self, ttl: u32) -> io::Result<()>;
        fn join_multicast_v4(&self, multiaddr: Ipv4Addr, interface: Ipv4Addr) -> io::Result<()>;
        fn join_multicast_v6(&self, multiaddr: &Ipv6Addr, interface: u32) -> io::Result<()>;
        fn leave_multicast_v4(&self, multiaddr: Ipv4Addr, interface: Ipv4Addr) -> io::Result<()>;
        fn leave_multicast_v6(&self, multiaddr: &Ipv6Addr, interface: u32) -> io::Result<()>;
    }

    options_of_ip! { "UdpSocket" }
}
