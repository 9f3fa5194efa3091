//! What a node may be told beside its name and cookie.

use std::net::IpAddr;
use std::time::Duration;

/// How a node works. Its limits bound the memory that a peer, and senders to it, can make it use:
///
/// ```text
/// peer_limit                          links and monitors of the peer, unread answers
/// + mailbox_limit + max_memory        its messages in all mailboxes together
/// + max_memory + 3 * max_message      the message, and the tag, that arrive
/// + 4 * (busy_limit + max_message)    messages of this node that the peer does not read
/// ```
///
/// and 1 MiB at most besides. Factors above 1 are for buffers, which double as they grow. Above `peer_limit` the connection ends;
/// at the other limits the peer, or the sender, waits. Peers without a connection count until their messages are received.
///
/// ```
/// let options = dyntrace::dist::Options { max_message: 1 << 20, ..Default::default() };
/// assert_eq!(options.max_depth, 128);
/// ```
#[derive(Clone, Debug)]
pub struct Options {
    /// Bytes of one whole message, either way: 64 MiB. A peer that sends a larger one loses its connection.
    pub max_message: usize,
    /// How deep terms that come in may be nested: 128.
    pub max_depth: usize,
    /// Bytes that one decoded message may take: 256 MiB. Decoding takes more than the message, up to some 50 times if it is all
    /// of small terms.
    pub max_memory: usize,
    /// Bytes that a connection holds for a peer that does not read: 1 MiB, as in Erlang. Who sends when there are more waits, and
    /// `dist-port_busy` fires. One message may exceed it.
    pub busy_limit: usize,
    /// Bytes of decoded messages that a mailbox holds, and that all mailboxes hold of one peer: 64 MiB. When one of the two is
    /// full, nothing more is read from the connection whose message waits for room, so that the peer's socket fills and its
    /// senders wait. One message may exceed it.
    pub mailbox_limit: usize,
    /// Bytes that this node keeps for one peer besides messages: 64 MiB. These are links and monitors that the peer made, some 500
    /// bytes each, and answers and exit signals that it does not read. Above it the connection ends; those with bonds over it are
    /// told `noconnection`, and [`Node::lost_connections`](super::Node::lost_connections) has the reason.
    pub peer_limit: usize,
    /// How long connecting and the handshake may take together: 7 s, as in Erlang.
    pub setup_time: Duration,
    /// Erlang's `net_ticktime`: 60 s. A peer from which not a byte came for that long is lost; a quarter of it without anything to
    /// send, and a tick is sent. A peer that ticks sooner is answered sooner.
    pub tick_time: Duration,
    /// The first pause after a connection failed; it doubles with each failure, up to 10 s: 100 ms.
    pub backoff: Duration,
    /// epmd's port: what `ERL_EPMD_PORT` says, else 4369.
    pub epmd_port: u16,
    /// The address to listen at: the loopback one if the node's host is `localhost` or 127.0.0.1, else all.
    pub listen: Option<IpAddr>,
    /// TLS under all of its connections but that to epmd. None, unless this says how.
    #[cfg(feature = "dist-tls")]
    pub tls: Option<super::Tls>,
}

impl Default for Options {
    fn default() -> Options {
        let epmd_port = crate::environment::var("ERL_EPMD_PORT").and_then(|port| port.to_str()?.parse().ok());
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
            #[cfg(feature = "dist-tls")]
            tls: None,
        }
    }
}
