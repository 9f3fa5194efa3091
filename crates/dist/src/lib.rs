//! Messages to and from Erlang nodes, by Erlang's distribution protocol. Needs the feature `dist`.
//!
//! ```no_run
//! # mod dyntrace { pub use dyntrace_dist as dist; }
//! use dyntrace::dist::{Node, Received, term};
//!
//! # #[tokio::main]
//! # async fn main() -> Result<(), dyntrace::dist::Error> {
//! let node = Node::start("worker@127.0.0.1", "the cookie")?;
//! let mut inbox = node.register("worker")?;
//! // On the other node: {worker, 'worker@127.0.0.1'} ! {self(), hello}.
//! while let Received::Message(message) = inbox.recv().await {
//!     if let Some(sender) = &message.sender {
//!         inbox.send(sender, term!({answer, (message.term)})).await?;
//!     }
//! }
//! # Ok(())
//! # }
//! ```
//!
//! # Protocol
//!
//! A [`Node`] registers with epmd, which must be running, and listens. It connects to another node at the first send, by the
//! handshake of OTP 23 and later. Both sides prove with MD5 digests that they know the cookie, before they accept anything else.
//!
//! The connection is not encrypted. As with Erlang's own, keep it in a trusted network, or use TLS: the feature `dist-tls` and
//! `Options::tls`. Terms are those of the crate `eetf`, messages and the handshake those of `erl_dist`. The node announces neither
//! fragments nor an atom cache nor compressed terms, so messages arrive whole. It sends and answers ticks.
//!
//! The next send reconnects after a lost connection. After a failed connection attempt, sends fail at once for a pause that doubles
//! with each failure, up to 10 s.
//!
//! # Limits
//!
//! [`Options`] has the limits: the size of a message, the depth and memory of received terms (checked before decoding), the
//! bytes that wait in a connection or an inbox, and links, monitors and answers. Its documentation has a formula for the memory that
//! one peer can take.
//!
//! A peer that exceeds a limit, or sends something that was not announced, loses its connection. Links and monitors over it end
//! with `noconnection`, waiting senders get the reason, and [`Node::lost_connections`] has it. A slow peer loses nothing as long as a
//! byte arrives within [`Options::tick_time`]. Links and monitors are between processes of the two nodes of a connection. A peer that
//! signals for a process of another node loses its connection.
//!
//! Up to 64 peers may be in the handshake before they prove the cookie. If more connect, the node drops the oldest one of the address
//! that has the most. So silent peers block no others, and an address that keeps connecting pushes out only its own connections.
//!
//! # Probes, tokens and tags
//!
//! | probe | fires |
//! |---|---|
//! | `message-send-remote` | for each sent message |
//! | `message-queued`, `message-receive` | for each received message |
//! | `dist-port_busy`, `dist-port_not_busy` | when a sender begins to wait for its peer, and when the peer has room again |
//! | `dist-monitor` | when a connection is made or ends |
//! | `dist-output` | for each write to a socket |
//!
//! The [sequential trace token](dyntrace_processes::seq_trace) of a sender goes to any node, and comes from any: both sides see the same trace.
//!
//! A user tag that [spreads](dyntrace_processes::spread_tag) goes to nodes of dyntrace only. Such a node has `dyntrace-1` in the `extra` field of
//! its epmd entry, which its peers read when a connection is made. The tag goes before its message, in a frame of its own: the
//! length, the byte 215 instead of 112, and the tag in UTF-8. Erlang nodes never get such a frame.
//!
//! # Missing
//!
//! `global`, `rpc`, spawning on behalf of other nodes, and dynamic node names (`-sname undefined`). An inbox treats every exit signal
//! like a process that traps exits.

mod budget;
mod connecting;
mod connection;
mod control;
mod destination;
mod epmd;
mod error;
mod frame;
mod greetings;
mod handshake;
#[doc(hidden)]
pub mod hostile;
mod inbox;
mod inner;
mod lengths;
mod limits;
mod listener;
mod lost;
mod name;
mod node;
mod options;
mod outgoing;
mod peers;
mod pid;
mod processes;
mod received;
mod running;
mod send;
mod socket;
mod strangers;
mod stream;
mod term;
mod text;
#[cfg(feature = "tls")]
mod tls;
mod token;
mod waits;

pub use destination::Destination;
pub use error::Error;
pub use inbox::Inbox;
pub use lost::LostConnection;
pub use node::Node;
pub use options::Options;
pub use received::{Message, Received};
#[doc(inline)]
pub use term::term;
pub use term::{Atom, IntoTerm, List, Map, Pid, Reference, Term, Tuple};
#[cfg(feature = "tls")]
pub use tls::Tls;
