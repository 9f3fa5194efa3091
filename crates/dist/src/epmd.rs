//! epmd, Erlang's port mapper: it knows the ports of the nodes on its host.
//!
//! Nodes of dyntrace recognize each other by the `extra` field of their entries, which Erlang nodes leave empty and do not read.

use std::io::{self, Read, Write};
use std::net::{IpAddr, TcpStream};
use std::time::{Duration, Instant};

use erl_dist::epmd::{EpmdClient, EpmdError, NodeEntry};
use erl_dist::node::{Creation, NodeName};
use futures::io::AllowStdIo;
use tokio::io::{AsyncRead, AsyncWrite};

use super::error::Error;
use super::socket::Socket;
use super::stream::Stream;
use super::text::cut;

/// The `extra` field of a node that takes user tags.
const MARK: &[u8] = b"dyntrace-1";

/// The limit for an answer of epmd on this host.
const ANSWER: Duration = Duration::from_secs(5);

/// The port of a node.
pub(super) struct NodePort {
    pub port: u16,
    /// The node is one of dyntrace.
    pub is_ours: bool,
}

/// Registers a node, until the socket is closed. Blocks until epmd of this host answers.
pub(super) fn register(name: &NodeName, port: u16, epmd: (IpAddr, u16)) -> Result<(TcpStream, Creation), Error> {
    let absent = |error| Error::NoEpmd { host: epmd.0.to_string(), port: epmd.1, error };
    let until = Instant::now() + ANSWER;
    let socket = TcpStream::connect_timeout(&epmd.into(), ANSWER).map_err(absent)?;
    let mut entry = NodeEntry::new_hidden(name.name(), port);
    entry.extra = MARK.to_vec();
    let client = EpmdClient::new(AllowStdIo::new(Until { socket, until }));
    match futures::executor::block_on(client.register(entry)) {
        Ok((socket, creation)) => Ok((socket.into_inner().socket, creation)),
        Err(EpmdError::RegisterNodeError { code: 1 }) => Err(Error::NameTaken(name.name().to_owned())),
        Err(EpmdError::Io(source)) => Err(absent(source)),
        Err(reason) => Err(refused(&epmd.0.to_string(), name, reason)),
    }
}

/// A socket with one deadline for all its calls, however slowly the other side answers.
struct Until {
    socket: TcpStream,
    until: Instant,
}

impl Until {
    /// The time until the deadline.
    fn left(&self) -> io::Result<Option<Duration>> {
        let left = self.until.saturating_duration_since(Instant::now());
        let late = || io::Error::new(io::ErrorKind::TimedOut, format!("it has not answered within {ANSWER:?}"));
        if left.is_zero() { Err(late()) } else { Ok(Some(left)) }
    }
}

impl Read for Until {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.socket.set_read_timeout(self.left()?)?;
        let read = self.socket.read(buffer);
        // The system's timeout has the kind WouldBlock, which explains nothing to users.
        read.or_else(|error| self.left().and(Err(error)))
    }
}

impl Write for Until {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.socket.set_write_timeout(self.left()?)?;
        let written = self.socket.write(bytes);
        written.or_else(|error| self.left().and(Err(error)))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.socket.flush()
    }
}

/// Asks the epmd of a node's host for the node's port.
pub(super) async fn look_up(name: &NodeName, port: u16) -> Result<NodePort, Error> {
    let absent = |error: io::Error| Error::NoEpmd { host: name.host().to_owned(), port, error };
    let socket = tokio::net::TcpStream::connect((name.host(), port)).await.map_err(absent)?;
    ask(Stream::new(Socket::Plain(socket)), name, absent).await
}

/// Reads an answer of epmd from `stream`.
pub(super) async fn ask<S: AsyncRead + AsyncWrite + Unpin>(
    stream: Stream<S>,
    name: &NodeName,
    absent: impl FnOnce(io::Error) -> Error,
) -> Result<NodePort, Error> {
    match EpmdClient::new(stream).get_node(name.name()).await {
        Ok(Some(entry)) => Ok(NodePort { port: entry.port, is_ours: entry.extra == MARK }),
        Ok(None) => Err(Error::NoSuchNode { host: name.host().to_owned(), name: name.name().to_owned() }),
        Err(EpmdError::Io(source)) => Err(absent(source)),
        Err(reason) => Err(refused(name.host(), name, reason)),
    }
}

fn refused(host: &str, name: &NodeName, reason: EpmdError) -> Error {
    Error::Epmd { host: host.to_owned(), name: name.name().to_owned(), reason: cut(reason) }
}
