//! TCP, UDP and Unix sockets with the names and signatures of [`tokio::net`]. Tracers see which process waits for which socket.
//!
//! Replace `tokio::net` by `dyntrace::net` in a program. Each wait then fires `process-wait` and `process-resume`, and each socket
//! `resource-new` and `resource-drop`. While no tracer is attached, each probe costs two instructions, nothing is allocated beside
//! tokio's own, and neither a clock nor an address is read.
//!
//! A socket has a number, unique in the program, which tracers see as `#Ref<0.N>`. Its name is its address, or both of them, as
//! `127.0.0.1:8080 to 127.0.0.1:50123`: its own, then the peer's. Its place is the call that made it: of an accepted stream, the call of
//! `accept`. A connection that is being made is a resource of its own, a `TcpSocket` or `UnixSocket` by the name `to ADDRESS`.
//! Functions that look names up wait for the resource `resolver`.
//!
//! All types behave as tokio's, which they contain. `From` and `into_inner` convert; a socket that is converted shows no waits any more.
//!
//! ```
//! use dyntrace::net::{TcpListener, TcpStream};
//! use tokio::io::{AsyncReadExt, AsyncWriteExt};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> std::io::Result<()> {
//! let listener = TcpListener::bind("127.0.0.1:0").await?;
//! let mut client = TcpStream::connect(listener.local_addr()?).await?;
//! let (mut server, _) = listener.accept().await?;
//! dyntrace::spawn(async move { server.write_all(b"fresh bread").await });
//! let mut answer = String::new();
//! client.read_to_string(&mut answer).await?;
//! assert_eq!(answer, "fresh bread");
//! # Ok(())
//! # }
//! ```
//!
//! # Waits
//!
//! The wait of an asynchronous method, as `TcpListener::accept` or `UdpSocket::recv_from`, is that of its future: it begins at the first
//! poll that returns pending, and ends when the future is ready, panics or is dropped. Its place is the call.
//!
//! [`AsyncRead`](tokio::io::AsyncRead), [`AsyncWrite`](tokio::io::AsyncWrite) and the methods `poll_...` have no future. A socket has one
//! such wait for each direction, `TcpStream::read` and `TcpStream::write`, which both halves of a split stream share with it. It
//! begins at the first poll that returns pending, and belongs to the process that polls. A reader that gives up, as in `select!`
//! or under a timeout, tells nobody. So the wait ends with the first of these:
//!
//! | event | outcome |
//! |---|---|
//! | a poll in this direction is ready, also with an error | `ready` |
//! | another process polls in this direction, and then waits itself: tokio wakes only the last one that polled | `cancelled` |
//! | the same process calls another asynchronous method of this direction, or shuts the stream down | `cancelled` |
//! | the stream is split, or its halves are reunited | `cancelled` |
//! | the socket is dropped, or its owned half of this direction; it is converted | `cancelled` |
//!
//! Until then, tracers see a wait that was given up as one that goes on; in the table of tasks, the next wait of the task takes its place.
//! Its place is that of the socket.
//!
//! The methods `try_...` never wait and fire nothing.
//!
//! # axum
//!
//! axum serves on types with its trait `axum::serve::Listener`, which only axum or your program can implement for
//! [`TcpListener`]:
//!
//! ```text
//! struct Port(dyntrace::net::TcpListener);
//!
//! impl axum::serve::Listener for Port {
//!     type Io = dyntrace::net::TcpStream;
//!     type Addr = std::net::SocketAddr;
//!
//!     async fn accept(&mut self) -> (Self::Io, Self::Addr) {
//!         loop {
//!             match self.0.accept().await {
//!                 Ok(accepted) => return accepted,
//!                 // As axum does when the program has no file descriptors left.
//!                 Err(_) => dyntrace::time::sleep(Duration::from_secs(1)).await,
//!             }
//!         }
//!     }
//!
//!     fn local_addr(&self) -> std::io::Result<Self::Addr> {
//!         self.0.local_addr()
//!     }
//! }
//!
//! axum::serve(Port(listener), app).await?;
//! ```
//!
//! The example `stuck_server` does that. hyper and tonic take [`TcpStream`] as it is, by `hyper_util::rt::TokioIo` and
//! `serve_with_incoming`; tonic's trait `Connected` is for a newtype, too. `axum::serve(listener.into_inner(), app)` works without
//! one, and shows no waits.
//!
//! # What shows no waits
//!
//! Pipes ([`unix::pipe`]) and [`ToSocketAddrs`] are tokio's own. `tokio::net::windows` is not here.

mod by_tokio;
mod connecting;
mod datagram;
mod halves;
mod lookup;
mod polling;
mod socket;
mod stream;
pub mod tcp;
mod udp;
pub mod unix;

pub use lookup::lookup_host;
pub use tcp::listener::TcpListener;
pub use tcp::socket::TcpSocket;
pub use tcp::stream::TcpStream;
#[doc(no_inline)]
pub use tokio::net::ToSocketAddrs;
pub use udp::UdpSocket;
pub use unix::datagram::UnixDatagram;
pub use unix::listener::UnixListener;
pub use unix::socket::UnixSocket;
pub use unix::stream::UnixStream;
