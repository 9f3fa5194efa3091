//! Options of a node.

use std::net::IpAddr;
use std::time::Duration;

/// Options of a node. The limits bound the memory that a peer, and senders to that peer, can make the node use:
///
/// ```text
/// peer_limit                          links and monitors of the peer, unread answers
/// + mailbox_limit + max_memory        its messages in all inboxes together
/// + max_memory + 3 * max_message      the message, and the tag, that arrive
/// + 4 * (busy_limit + max_message)    messages of this node that the peer does not read
/// ```
///
/// and up to 1 MiB more. Factors above 1 are for buffers, which double as they grow. At `peer_limit` the connection ends; at the
/// other limits the peer, or the sender, waits. A peer without a connection counts until its messages are received.
///
/// ```
/// # mod dyntrace { pub use dyntrace_dist as dist; }
/// let options = dyntrace::dist::Options { max_message: 1 << 20, ..Default::default() };
/// assert_eq!(options.max_depth, 128);
/// ```
#[derive(Clone, Debug)]
pub struct Options {
    /// The largest message in bytes, sent or received. Default: 64 MiB. A peer that sends a larger one loses its connection.
    pub max_message: usize,
    /// The deepest nesting of a received term. Default: 128.
    pub max_depth: usize,
    /// The memory of one decoded message in bytes. Default: 256 MiB. A message of small terms takes up to 50 times its encoded size.
    pub max_memory: usize,
    /// The bytes that a connection holds for a peer that does not read. Default: 1 MiB, as in Erlang. Beyond it senders wait, and
    /// `dist-port_busy` fires. One message may exceed it.
    pub busy_limit: usize,
    /// The bytes of decoded messages that one inbox holds, and that all inboxes hold of one peer. Default: 64 MiB. At either limit the
    /// node stops reading from the connection whose message waits for room. So the peer's socket fills and its senders wait. One
    /// message may exceed it.
    pub mailbox_limit: usize,
    /// The bytes that this node keeps for one peer besides messages. Default: 64 MiB. These are links and monitors that the peer made,
    /// about 500 bytes each, and answers and exit signals that it does not read. Beyond it the connection ends: links and monitors over
    /// it end with `noconnection`, and [`Node::lost_connections`](super::Node::lost_connections) has the reason.
    pub peer_limit: usize,
    /// The limit for connecting and the handshake together. Default: 7 s, as in Erlang.
    pub setup_time: Duration,
    /// Erlang's `net_ticktime`. Default: 60 s. A peer that sends no byte for this time is lost. The node sends a tick after a quarter of
    /// it without other bytes, and sooner as an answer to a peer that ticks sooner.
    pub tick_time: Duration,
    /// The first pause after a failed connection attempt. Default: 100 ms. It doubles with each failure, up to 10 s.
    pub backoff: Duration,
    /// The port of epmd. Default: that in `ERL_EPMD_PORT`, else 4369.
    pub epmd_port: u16,
    /// The address to listen at. Default: the loopback address if the node's host is `localhost` or 127.0.0.1, else all addresses.
    pub listen: Option<IpAddr>,
    /// TLS for all connections except the one to epmd. Default: none.
    #[cfg(feature = "tls")]
    pub tls: Option<super::Tls>,
}

impl Default for Options {
    fn default() -> Options {
        let epmd_port =
            dyntrace_processes::environment::var("ERL_EPMD_PORT").and_then(|port| port.to_str()?.parse().ok());
        Options {
            max_message: 64 << 20,
            max_depth: 128,
            max_memory: 256 << 20,
            busy_limit: 1 << 20,
            mailbox_limit: 64 << 20,
            peer_limit: 64 << 20,
            setup_time: Duration::from_secs(7),
            tick_time: Duration::from_secs(60),
            backoff: Duration::from_millis(100),
            epmd_port: epmd_port.unwrap_or(erl_dist::epmd::DEFAULT_EPMD_PORT),
            listen: None,
            #[cfg(feature = "tls")]
            tls: None,
        }
    }
}
