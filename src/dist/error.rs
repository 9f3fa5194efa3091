//! What can go wrong, and the way out.

use std::io;
use std::time::Duration;

use erl_dist::handshake::HandshakeError;

use super::text::cut;

/// Why something of a node did not succeed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The name is none that a node can have, or none that this node can talk to.
    #[error("{name:?} cannot be the name of {what}: {reason}")]
    Name {
        /// The name.
        name: String,
        /// Whose name it is.
        what: &'static str,
        /// What is wrong with it.
        reason: String,
    },
    /// A node was started outside of a tokio runtime.
    #[error("cannot start a node outside of a tokio runtime: call Node::start in a task, or under Runtime::enter")]
    NoRuntime,
    /// Nobody answers at epmd's port.
    #[error(
        "no epmd answers at {host}:{port} ({source}): start it with `epmd -daemon`, or set ERL_EPMD_PORT if it has another port; \
         a running Erlang node has started one on its host"
    )]
    NoEpmd {
        /// Where it was looked for.
        host: String,
        /// At which port.
        port: u16,
        /// What the system says.
        source: io::Error,
    },
    /// epmd answered something else than what was asked for.
    #[error("epmd of {host} gave no answer for the node {name:?}: {reason}")]
    Epmd {
        /// The host.
        host: String,
        /// The node that it was asked for.
        name: String,
        /// What it said.
        reason: String,
    },
    /// epmd has a living node of this name already.
    #[error("epmd has a node {0:?} already: give this one another name, or stop the other")]
    NameTaken(String),
    /// epmd does not know the node.
    #[error(
        "epmd of {host} knows no node {name:?}: is it running, and has it a name (-sname, -name) of this spelling?"
    )]
    NoSuchNode {
        /// The host.
        host: String,
        /// The part of its name before the @.
        name: String,
    },
    /// A socket could not be opened, connected, or used.
    #[error("{what} {node}: {source}")]
    Io {
        /// What was being done.
        what: &'static str,
        /// To which node, or at which address.
        node: String,
        /// What the system says.
        source: io::Error,
    },
    /// The two nodes have not the same cookie.
    #[error(
        "{node} refuses the cookie: it closed the connection when it had our answer to its challenge; \
         start both nodes with one cookie (-setcookie, ~/.erlang.cookie)"
    )]
    Cookie {
        /// The other node.
        node: String,
    },
    /// TLS with the node did not come about.
    #[cfg(feature = "dist-tls")]
    #[error(
        "no TLS with {node}: {reason}; do both sides speak it, is each one's certificate of an authority that the other believes, \
         and that of {node} for its host?"
    )]
    Tls {
        /// The other node.
        node: String,
        /// What went wrong.
        reason: io::Error,
    },
    /// A file of certificates or of a key is of no use.
    #[cfg(feature = "dist-tls")]
    #[error("cannot use {} for TLS: {reason}", file.display())]
    Certificate {
        /// The file.
        file: std::path::PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The handshake ended otherwise.
    #[error("the handshake with {node} failed: {reason}")]
    Handshake {
        /// The other node, or its address.
        node: String,
        /// What went wrong.
        reason: String,
    },
    /// A step took longer than it may.
    #[error(
        "{what} {node} took longer than {limit:?}: is it reachable, and not overloaded? Options::setup_time allows more"
    )]
    TooSlow {
        /// What was being done.
        what: &'static str,
        /// The other node.
        node: String,
        /// How long it may take.
        limit: Duration,
    },
    /// The node could not be reached a moment ago, and is not tried again yet.
    #[error("{node} could not be reached, and is tried again in {again:?}: {reason}")]
    Unreachable {
        /// The other node.
        node: String,
        /// After how long a send tries again.
        again: Duration,
        /// Why it could not be reached.
        reason: String,
    },
    /// The connection was there, and ended.
    #[error("the connection to {node} is lost: {reason}")]
    Lost {
        /// The other node.
        node: String,
        /// Why.
        reason: String,
    },
    /// The message is larger than the limit of this node.
    #[error(
        "a message of {size} bytes for {node} is larger than the limit of {limit}: send it in parts, or raise Options::max_message"
    )]
    TooLarge {
        /// The other node.
        node: String,
        /// Its encoded size.
        size: usize,
        /// What may be sent.
        limit: usize,
    },
    /// The term cannot be written in Erlang's external format.
    #[error("a term for {node} cannot be encoded: {reason}")]
    Encode {
        /// The other node.
        node: String,
        /// Why.
        reason: String,
    },
    /// Another mailbox of this node has the name.
    #[error("{0:?} is the registered name of another mailbox of this node: close that one first")]
    Registered(String),
}

impl Error {
    pub(super) fn io(what: &'static str, node: impl ToString, source: io::Error) -> Error {
        Error::Io { what, node: node.to_string(), source }
    }

    #[cfg(feature = "dist-tls")]
    pub(super) fn tls(node: impl ToString, reason: io::Error) -> Error {
        Error::Tls { node: node.to_string(), reason }
    }

    pub(super) fn lost(node: &str, reason: impl ToString) -> Error {
        Error::Lost { node: node.to_owned(), reason: reason.to_string() }
    }

    pub(super) fn handshake(node: impl ToString, reason: HandshakeError) -> Error {
        Error::Handshake { node: node.to_string(), reason: cut(reason) }
    }
}
