//! Messages to and from Erlang nodes, by Erlang's own distribution. With the feature `dist`.
//!
//! ```no_run
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
//! # What is spoken
//!
//! A [`Node`] registers with epmd, which must run, listens, and connects by the handshake of OTP 23 and later when something is
//! first sent to a node; both sides prove that they know the cookie, by MD5 digests, before anything else is taken. The
//! connection is not encrypted: do as for Erlang's own, keep it in a network that is trusted, or have TLS under it, with the
//! feature `dist-tls` and `Options::tls`. Terms are those of the `eetf` crate, messages and the handshake those of `erl_dist`. Messages come whole: neither fragments nor an atom cache nor compressed terms
//! are announced. Ticks are sent and answered. A connection that is lost is made anew by the next send; after one that failed,
//! sends fail at once for a pause that doubles up to 10 s.
//!
//! # What is bounded
//!
//! [`Options`] has the limits: of whole messages, of the depth and the memory of terms that come in, which are checked before
//! they are decoded, of what waits in a connection or an inbox, and of links, monitors and answers. Its documentation has the
//! memory that one peer can take, as one formula. A peer that exceeds a limit, or sends what was not announced, loses its connection:
//! bonds over it end with `noconnection`, waiting senders get the reason, and [`Node::lost_connections`] has it. A peer that reads
//! or sends slowly loses nothing, as long as a byte comes within [`Options::tick_time`]. Links and monitors are between processes
//! of the two nodes of a connection: a peer that signals for another node's process loses its connection, too.
//!
//! Before they prove the cookie, 64 peers may be in the handshake. When more come, the oldest one goes, of the address that has most
//! of them: silent ones hold nobody up, and an address that connects again and again pushes out only its own.
//!
//! # Probes, tokens and tags
//!
//! `message-send-remote` fires for each message that is sent, `message-queued` and `message-receive` for those that come in, and
//! `dist-port_busy` where a sender must wait for its peer, until `dist-port_not_busy`. `dist-monitor` fires for each connection that is
//! made or ends, and `dist-output` for each write to a socket. The [sequential trace token](crate::seq_trace) of the sender goes to any
//! node, and comes from any: on both sides it is the same trace.
//!
//! A user tag that [spreads](crate::spread_tag) goes to nodes of dyntrace only. Such a node says so in the `extra` field of its
//! entry in epmd (`dyntrace-1`), where its peers look when they connect or are connected to. The tag goes before its message, in
//! a frame of its own: the length, the byte 215 in the place of 112, and the tag in UTF-8. So Erlang's nodes see nothing of it.
//!
//! # Not here
//!
//! `global`, `rpc`, spawning for others; names that the other side chooses (`-sname undefined`). An inbox treats every exit
//! signal as one that traps exits does.

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
#[cfg(feature = "dist-tls")]
mod tls;
mod token;

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
#[cfg(feature = "dist-tls")]
pub use tls::Tls;
