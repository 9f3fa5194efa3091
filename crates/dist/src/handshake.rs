//! Both sides of the handshake. Before its end nothing else is accepted from a peer.

use std::io;

use erl_dist::handshake::{ClientSideHandshake, HandshakeError, HandshakeStatus, ServerSideHandshake};
use erl_dist::node::{LocalNode, NodeName};
use erl_dist::{DistributionFlags as Flags, HIGHEST_DISTRIBUTION_PROTOCOL_VERSION};
use futures::AsyncWriteExt;
use tokio::io::{AsyncRead, AsyncWrite};

use super::error::Error;
use super::name;
use super::stream::Stream;

/// The capabilities of this node: those that every node must have since OTP 25, monitors, senders in messages, and tokens with any
/// label. It is hidden. It announces neither an atom cache nor fragments nor compression, so that peers use none of them.
pub(super) fn flags() -> Flags {
    Flags::mandatory()
        | Flags::DIST_MONITOR
        | Flags::DIST_MONITOR_NAME
        | Flags::SEND_SENDER
        | Flags::BIG_SEQTRACE_LABELS
}

/// A peer that has proved the cookie.
pub(super) struct Peer<S> {
    pub name: NodeName,
    pub flags: Flags,
    pub socket: S,
}

impl<S> Peer<S> {
    /// Whether it is a hidden node.
    pub(super) fn is_hidden(&self) -> bool {
        !self.flags.contains(Flags::PUBLISHED)
    }
}

/// The result of a handshake that this node began.
pub(super) enum Dialled<S> {
    Connected(Peer<S>),
    /// The peer is connecting to this node at the same time, and its connection stays.
    ItConnects,
}

/// Connects to `name` over `stream`.
pub(super) async fn dial<S: AsyncRead + AsyncWrite + Unpin>(
    mut stream: Stream<S>,
    local: &LocalNode,
    cookie: &str,
    name: &NodeName,
) -> Result<Dialled<S>, Error> {
    let failed = |reason| Error::handshake(name, reason);
    let mut handshake = ClientSideHandshake::new(stream.clone(), local.clone(), cookie);
    match handshake.execute_send_name(HIGHEST_DISTRIBUTION_PROTOCOL_VERSION).await.map_err(failed)? {
        HandshakeStatus::Nok => return Ok(Dialled::ItConnects),
        // The peer has an earlier connection, which is lost. erl_dist prepares the answer and does not send it.
        HandshakeStatus::Alive => {
            let answer = stream.write_all(b"\0\x05strue").await.and(stream.flush().await);
            answer.map_err(|error| failed(HandshakeError::Io(error)))?;
        }
        _ => {}
    }
    let before = stream.read();
    match handshake.execute_rest(true).await {
        Ok((other, node)) => {
            drop(other);
            if node.name != *name {
                let reason = format!("{} answers at its port: has it been renamed or replaced?", node.name);
                return Err(Error::Handshake { node: name.to_string(), reason });
            }
            Ok(Dialled::Connected(proved(stream, node.name, node.flags)?))
        }
        // A node closes the connection silently if the cookies differ.
        Err(HandshakeError::Io(error)) if ended(&error) && has_challenge(stream.read() - before, name) => {
            Err(Error::Cookie { node: name.to_string() })
        }
        Err(HandshakeError::CookieMismatch) => Err(Error::Cookie { node: name.to_string() }),
        Err(reason) => Err(failed(reason)),
    }
}

fn ended(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe)
}

/// Whether `bytes` bytes are the whole challenge of this node.
fn has_challenge(bytes: usize, name: &NodeName) -> bool {
    // Its length, a tag, flags, the challenge, the creation, and the name's length before the name.
    bytes == 2 + 1 + 8 + 4 + 4 + 2 + name.len()
}

/// Accepts the node at the other end of `stream`, at `address`, if it proves the cookie. `refuses` returns whether another connection
/// to it stays.
pub(super) async fn accept<S: AsyncRead + AsyncWrite + Unpin>(
    stream: Stream<S>,
    address: String,
    local: &LocalNode,
    cookie: &str,
    refuses: impl FnOnce(&NodeName) -> bool,
) -> Result<Peer<S>, Error> {
    let mut handshake = ServerSideHandshake::new(stream.clone(), local.clone(), cookie);
    let named = handshake.execute_recv_name().await.map_err(|reason| Error::handshake(&address, reason))?;
    // A peer without a name asks for a dynamic one, which only Erlang nodes give.
    let status = match named.as_ref().map(|name| name::of_peer(&name.to_string(), &local.name)) {
        None | Some(Err(_)) => HandshakeStatus::NotAllowed,
        Some(Ok(name)) if refuses(&name) => HandshakeStatus::Nok,
        Some(Ok(_)) => HandshakeStatus::Ok,
    };
    let peer = named.map_or(address, |name| name.to_string());
    let (other, node) = handshake.execute_rest(status).await.map_err(|reason| match reason {
        HandshakeError::CookieMismatch => Error::Cookie { node: peer.clone() },
        reason => Error::handshake(&peer, reason),
    })?;
    drop(other);
    proved(stream, node.name, node.flags)
}

fn proved<S>(stream: Stream<S>, name: NodeName, flags: Flags) -> Result<Peer<S>, Error> {
    let refused = |reason: &str| Error::Handshake { node: name.to_string(), reason: reason.to_owned() };
    // This node sends only the forms that these flags announce.
    if !flags.contains(Flags::HANDSHAKE_23 | Flags::BIG_CREATION | Flags::UTF8_ATOMS) {
        return Err(refused("it is older than OTP 23"));
    }
    let socket = stream.into_socket().ok_or_else(|| refused("its socket is in use"))?;
    Ok(Peer { name, flags, socket })
}
