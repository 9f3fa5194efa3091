//! epmd, Erlang's port mapper: it tells at which port of its host a node listens.
//!
//! Nodes of dyntrace know each other by the `extra` field of their entries, which Erlang's nodes leave empty and do not read.

use std::io;
use std::net::{IpAddr, TcpStream};
use std::time::Duration;

use erl_dist::epmd::{EpmdClient, EpmdError, NodeEntry};
use erl_dist::node::{Creation, NodeName};
use futures::io::AllowStdIo;

use super::error::Error;
use super::socket::Socket;
use super::stream::Stream;

/// What the entry of a node has in `extra` if it understands user tags.
const MARK: &[u8] = b"dyntrace-1";

/// Where a node is.
pub(super) struct Place {
    pub port: u16,
    /// It is a node of dyntrace.
    pub is_ours: bool,
}

/// Registers a node. It stays registered for as long as the socket is open. Blocks, for the time that epmd of this host takes.
pub(super) fn register(name: &NodeName, port: u16, epmd: (IpAddr, u16)) -> Result<(TcpStream, Creation), Error> {
    let absent = |source| Error::NoEpmd { host: epmd.0.to_string(), port: epmd.1, source };
    let limit = Duration::from_secs(5);
    let socket = TcpStream::connect_timeout(&epmd.into(), limit).map_err(absent)?;
    socket.set_read_timeout(Some(limit)).and_then(|()| socket.set_write_timeout(Some(limit))).map_err(absent)?;
    let mut entry = NodeEntry::new_hidden(name.name(), port);
    entry.extra = MARK.to_vec();
    let client = EpmdClient::new(AllowStdIo::new(socket));
    match futures::executor::block_on(client.register(entry)) {
        Ok((socket, creation)) => Ok((socket.into_inner(), creation)),
        Err(EpmdError::RegisterNodeError { code: 1 }) => Err(Error::NameTaken(name.name().to_owned())),
        Err(EpmdError::Io(source)) => Err(absent(source)),
        Err(reason) => Err(refused(&epmd.0.to_string(), name, reason)),
    }
}

/// Asks the epmd of a node's host where that node is.
pub(super) async fn look_up(name: &NodeName, port: u16) -> Result<Place, Error> {
    let absent = |source: io::Error| Error::NoEpmd { host: name.host().to_owned(), port, source };
    let socket = tokio::net::TcpStream::connect((name.host(), port)).await.map_err(absent)?;
    match EpmdClient::new(Stream::new(Socket::Plain(socket))).get_node(name.name()).await {
        Ok(Some(entry)) => Ok(Place { port: entry.port, is_ours: entry.extra == MARK }),
        Ok(None) => Err(Error::NoSuchNode { host: name.host().to_owned(), name: name.name().to_owned() }),
        Err(EpmdError::Io(source)) => Err(absent(source)),
        Err(reason) => Err(refused(name.host(), name, reason)),
    }
}

fn refused(host: &str, name: &NodeName, reason: EpmdError) -> Error {
    Error::Epmd { host: host.to_owned(), name: name.name().to_owned(), reason: reason.to_string() }
}
