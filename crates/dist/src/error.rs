//! Errors of nodes.

use std::io;
use std::time::Duration;

use erl_dist::handshake::HandshakeError;

use super::text::cut;

/// The error of a node.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The name is not valid for a node, or this node cannot talk to nodes of such names.
    #[error("{name:?} cannot be the name of {what}: {reason}")]
    Name {
        /// The name.
        name: String,
        /// Whose name it is.
        what: &'static str,
        /// The reason.
        reason: String,
    },
    /// A node was started outside of a tokio runtime.
    #[error("cannot start a node outside of a tokio runtime: call Node::start in a task, or under Runtime::enter")]
    NoRuntime,
    /// No epmd answers at its port.
    #[error(
        "no epmd answers at {host}:{port} ({error}): start it with `epmd -daemon`, or set ERL_EPMD_PORT if it has another port; \
         a running Erlang node has started one on its host"
    )]
    NoEpmd {
        /// The host.
        host: String,
        /// The port.
        port: u16,
        /// The error of the system.
        error: io::Error,
    },
    /// epmd gave another answer than expected.
    #[error("epmd of {host} gave no answer for the node {name:?}: {reason}")]
    Epmd {
        /// The host.
        host: String,
        /// The node that was asked for.
        name: String,
        /// The reason.
        reason: String,
    },
    /// epmd has a running node of this name already.
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
    #[error("{what} {node}: {error}")]
    Io {
        /// The step that failed.
        what: &'static str,
        /// The node or the address.
        node: String,
        /// The error of the system.
        error: io::Error,
    },
    /// The two nodes have different cookies.
    #[error(
        "{node} refuses the cookie: it closed the connection when it had our answer to its challenge; \
         start both nodes with one cookie (-setcookie, ~/.erlang.cookie)"
    )]
    Cookie {
        /// The other node.
        node: String,
    },
    /// The TLS handshake with the node failed.
    #[cfg(feature = "tls")]
    #[error(
        "no TLS with {node}: {reason}; do both sides speak it, is each one's certificate of an authority that the other believes, \
         and that of {node} for its host?"
    )]
    Tls {
        /// The other node.
        node: String,
        /// The reason.
        reason: io::Error,
    },
    /// A file with certificates or a key cannot be used.
    #[cfg(feature = "tls")]
    #[error("cannot use {} for TLS: {reason}", file.display())]
    Certificate {
        /// The file.
        file: std::path::PathBuf,
        /// The reason.
        reason: String,
    },
    /// The handshake failed for another reason.
    #[error("the handshake with {node} failed: {reason}")]
    Handshake {
        /// The other node, or its address.
        node: String,
        /// The reason.
        reason: String,
    },
    /// A step took longer than its limit.
    #[error(
        "{what} {node} took longer than {limit:?}: is it reachable, and not overloaded? Options::setup_time allows more"
    )]
    TooSlow {
        /// The step that failed.
        what: &'static str,
        /// The other node.
        node: String,
        /// The limit.
        limit: Duration,
    },
    /// A recent attempt to reach the node failed, and the pause before the next one is not over.
    #[error("{node} could not be reached, and is tried again in {again:?}: {reason}")]
    Unreachable {
        /// The other node.
        node: String,
        /// The rest of the pause.
        again: Duration,
        /// The reason of the failure.
        reason: String,
    },
    /// The connection has ended.
    #[error("the connection to {node} is lost: {reason}")]
    Lost {
        /// The other node.
        node: String,
        /// The reason.
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
        /// The limit.
        limit: usize,
    },
    /// The term cannot be encoded in Erlang's external term format.
    #[error("a term for {node} cannot be encoded: {reason}")]
    Encode {
        /// The other node.
        node: String,
        /// The reason.
        reason: String,
    },
    /// Another inbox of this node has the name.
    #[error("{0:?} is the registered name of another mailbox of this node: close that one first")]
    Registered(String),
}

impl Error {
    pub(super) fn io(what: &'static str, node: impl ToString, error: io::Error) -> Error {
        Error::Io { what, node: node.to_string(), error }
    }

    #[cfg(feature = "tls")]
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
