//! Hand-made peers: they have the cookie and pass the handshake, and then break the protocol.

use std::io;
use std::net::SocketAddr;

use dyntrace::dist::{Pid, Reference, Term};
use erl_dist::handshake::{ClientSideHandshake, HandshakeError, HandshakeStatus};
use erl_dist::message::Message;
use erl_dist::node::{Creation, LocalNode};
use erl_dist::{DistributionFlags as Flags, HIGHEST_DISTRIBUTION_PROTOCOL_VERSION};
use futures::io::AllowStdIo;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use crate::erl::COOKIE;

pub const PEER: &str = "hostile@127.0.0.1";

/// A peer after the handshake.
pub struct Hostile {
    pub socket: TcpStream,
    name: String,
}

impl Hostile {
    /// Connects to the node at `address` under the name [`PEER`].
    pub async fn connect(address: SocketAddr) -> Hostile {
        Hostile::named(PEER, address).await
    }

    /// Connects as a hidden node, like dyntrace's.
    pub async fn hidden(address: SocketAddr) -> Hostile {
        Hostile::with_flags(PEER, address, Flags::new()).await
    }

    /// Connects under another name.
    pub async fn named(name: &str, address: SocketAddr) -> Hostile {
        Hostile::with_flags(name, address, Flags::PUBLISHED).await
    }

    async fn with_flags(name: &str, address: SocketAddr, flags: Flags) -> Hostile {
        let owned = name.to_owned();
        let connected = tokio::task::spawn_blocking(move || handshake(&owned, address, flags)).await.unwrap();
        let socket = connected.expect("a peer with the cookie passes the handshake");
        socket.set_nonblocking(true).unwrap();
        Hostile { socket: TcpStream::from_std(socket).unwrap(), name: name.to_owned() }
    }

    /// Returns a pid of this peer.
    pub fn pid(&self, number: u32) -> Pid {
        Pid::new(self.name.as_str(), number, 0, 7)
    }

    /// Returns a reference of this peer with `words` words.
    pub fn reference(&self, number: u32, words: usize) -> Reference {
        let mut id = vec![0; words];
        id[0] = number;
        Reference { node: self.name.as_str().into(), id, creation: 7 }
    }

    /// Sends one message.
    pub async fn send(&mut self, message: Message) -> io::Result<()> {
        self.socket.write_all(&frame(message)).await
    }
}

/// Returns a message as a peer sends it.
pub fn frame(message: Message) -> Vec<u8> {
    let mut bytes = vec![0, 0, 0, 0, 112];
    message.write_into(&mut bytes).unwrap();
    let length = bytes.len() as u32 - 4;
    bytes[..4].copy_from_slice(&length.to_be_bytes());
    bytes
}

fn handshake(name: &str, address: SocketAddr, flags: Flags) -> Result<std::net::TcpStream, HandshakeError> {
    let socket = std::net::TcpStream::connect(address)?;
    let mut local = LocalNode::new(name.parse()?, Creation::new(7));
    local.flags = Flags::mandatory() | Flags::DIST_MONITOR | Flags::DIST_MONITOR_NAME | flags;
    futures::executor::block_on(async {
        let mut handshake = ClientSideHandshake::new(AllowStdIo::new(socket), local, COOKIE);
        match handshake.execute_send_name(HIGHEST_DISTRIBUTION_PROTOCOL_VERSION).await? {
            HandshakeStatus::Ok => {}
            status => panic!("{status:?}"),
        }
        let (socket, _) = handshake.execute_rest(true).await?;
        Ok(socket.into_inner())
    })
}

/// Returns a ping of `net_kernel` whose answer echoes `tag`.
pub fn ping(from: Pid, tag: Term) -> Message {
    use dyntrace::dist::term;
    let call = term!({ (dyntrace::dist::Atom::from("$gen_call")), {(from.clone()), (tag)}, {is_auth, someone} });
    Message::reg_send(from, "net_kernel".into(), call)
}
