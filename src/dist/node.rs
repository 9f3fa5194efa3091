//! A node.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use erl_dist::message::Message as Wire;
use erl_dist::term::{Atom, Pid, Reference, Term};
use tokio::runtime::Handle;

use super::connection::Connection;
use super::destination::Destination;
use super::error::Error;
use super::inbox::Inbox;
use super::lost::LostConnection;
use super::options::Options;
use super::peers::Peers;
use super::pid::Local;
use super::processes::Processes;
use super::term::{mend, words};
use super::{frame, listener, name, token};
use crate::probes::{dist, message};
use crate::process;
use crate::seq_trace::{self, Token};
use crate::tag;

/// A node of Erlang's distribution: other nodes reach its inboxes by name and by pid, and it sends to their processes.
///
/// It is a *hidden* node, as those written in C are: it does not take part in `nodes()`, in `global`, and in the meshes of
/// others. `net_adm:ping/1` finds it.
///
/// Clones are the same node. It ends with the last of them and of its inboxes: epmd forgets it, and its connections close when
/// what was sent is written, after 5 s at the latest. Its runtime does that. A program that ends that runtime has to wait for
/// [`Node::flush`] first.
#[derive(Clone)]
pub struct Node {
    pub(super) life: Arc<Life>,
}

impl std::fmt::Debug for Node {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Node").field("name", &self.name()).finish_non_exhaustive()
    }
}

/// Ends the node when nobody has it any more.
pub(super) struct Life {
    pub inner: Arc<Inner>,
    listener: listener::Tasks,
}

impl Drop for Life {
    fn drop(&mut self) {
        self.listener.end();
        self.inner.peers.end();
    }
}

/// What the tasks of a node share.
pub(super) struct Inner {
    pub local: Local,
    pub cookie: String,
    pub options: Options,
    pub runtime: Handle,
    pub peers: Peers,
    pub processes: Processes,
    pub references: AtomicU64,
}

impl Node {
    /// Starts a node with the usual [`Options`].
    ///
    /// `name@host.domain`, or `name@` and an address, is a long name, as `erl -name` has it; `name@host` a short one (`-sname`), and
    /// so is `name`, which gets this machine's host. Nodes with long names and nodes with short ones do not talk to each other.
    ///
    /// Blocks for as long as epmd of this host takes to answer: some 100 us, 5 s at most.
    ///
    /// # Errors
    ///
    /// [`Error::NoEpmd`] if no epmd runs, [`Error::NameTaken`], [`Error::Name`], [`Error::NoRuntime`] outside of a tokio runtime,
    /// and those of opening a socket.
    ///
    /// ```no_run
    /// use dyntrace::dist::{Node, term};
    ///
    /// # #[tokio::main]
    /// # async fn main() -> Result<(), dyntrace::dist::Error> {
    /// let node = Node::start("worker@127.0.0.1", "the cookie")?;
    /// node.send(("collector", "erl@127.0.0.1"), term!({ok, 1})).await?;
    /// node.flush().await;
    /// # Ok(())
    /// # }
    /// ```
    pub fn start(name: &str, cookie: impl Into<String>) -> Result<Node, Error> {
        Node::start_with(name, cookie, Options::default())
    }

    /// Starts a node.
    ///
    /// # Errors
    ///
    /// As [`Node::start`].
    pub fn start_with(name: &str, cookie: impl Into<String>, options: Options) -> Result<Node, Error> {
        let runtime = Handle::try_current().map_err(|_| Error::NoRuntime)?;
        let name = name::own(name)?;
        let address = options.listen.unwrap_or_else(|| name::listen_address(&name));
        let listener = listener::open(&name, address, options.epmd_port)?;
        let inner = Arc::new(Inner {
            local: listener.local(name),
            cookie: cookie.into(),
            options,
            runtime,
            peers: Peers::new(),
            processes: Processes::default(),
            references: AtomicU64::new(1),
        });
        let listener = listener.run(&inner);
        Ok(Node { life: Arc::new(Life { inner, listener }) })
    }

    /// Its whole name.
    pub fn name(&self) -> String {
        self.life.inner.local.name.clone()
    }

    /// The pid of the current process, as other nodes see it.
    pub fn pid(&self) -> Pid {
        self.life.inner.local.pid(process::current())
    }

    /// The names of the nodes that it has connections to.
    pub fn nodes(&self) -> Vec<String> {
        self.life.inner.peers.connections().iter().map(|connection| connection.node.clone()).collect()
    }

    /// The last 64 connections that have ended, the latest one last, with the reasons: among them a peer that exceeded a limit of
    /// [`Options`].
    pub fn lost_connections(&self) -> Vec<LostConnection> {
        self.life.inner.peers.lost.all()
    }

    /// Connects to a node, if it is not connected. Sending does so by itself.
    ///
    /// # Errors
    ///
    /// As [`Node::send`], where they are about the connection.
    pub async fn connect(&self, node: &str) -> Result<(), Error> {
        self.life.inner.connection(node).await.map(drop)
    }

    /// Sends a message to a process of another node: to a name, or to a pid.
    ///
    /// The sender is the current process. What is sent to one node by one process arrives in that order, as long as the connection
    /// lasts; whether there is such a process, and whether it arrives, is not told, as in Erlang.
    ///
    /// Waits while [`Options::busy_limit`] bytes wait for a peer that does not read. Dropped meanwhile, it has sent nothing.
    ///
    /// # Errors
    ///
    /// [`Error::Cookie`], [`Error::NoSuchNode`], [`Error::NoEpmd`], [`Error::TooSlow`], ... where it had to connect; after such a
    /// failure [`Error::Unreachable`] for a while that doubles each time; [`Error::TooLarge`]; [`Error::Lost`] if the connection
    /// ended while it waited.
    pub async fn send(&self, to: impl Into<Destination>, term: Term) -> Result<(), Error> {
        let sender = process::current();
        self.life.inner.send(sender, sender, to.into(), term).await
    }

    /// Waits until all that was sent is written to its sockets, or its connections are lost.
    pub async fn flush(&self) {
        for connection in self.life.inner.peers.connections() {
            connection.flush().await;
        }
    }

    /// Opens an inbox without a name.
    pub fn inbox(&self) -> Inbox {
        Inbox::open(self.clone(), None).unwrap_or_else(|_| unreachable!("only a name can be taken already"))
    }

    /// Opens an inbox that processes of other nodes send to by `name`.
    ///
    /// # Errors
    ///
    /// [`Error::Registered`] if another inbox of this node has the name.
    pub fn register(&self, name: &str) -> Result<Inbox, Error> {
        Inbox::open(self.clone(), Some(name))
    }

    /// The address at which it listens.
    pub fn address(&self) -> SocketAddr {
        self.life.listener.address
    }
}

impl Inner {
    /// Sends from the process `sender`. Tracers are told `shown`.
    pub(super) async fn send(
        self: &Arc<Self>,
        sender: process::Pid,
        shown: process::Pid,
        to: Destination,
        mut term: Term,
    ) -> Result<(), Error> {
        let connection = self.connection(to.node()).await?;
        mend(&mut term);
        let token = seq_trace::on_send();
        let fired = message::send_remote::is_enabled().then(|| (to.shown(), words(&term)));
        let frame = self.frame(&connection, sender, to, term, token.as_ref())?;
        let busy = || {
            dist::port_busy(|| (self.local.name.as_str(), &*connection.node, &*connection.node, shown));
        };
        connection.send(&frame, busy).await.map_err(|_| connection.error())?;
        if let Some((receiver, size)) = fired {
            let (label, previous, current) = Token::shown(token.as_ref());
            message::send_remote(|| (shown, &*connection.node, &*receiver, size, label, previous, current));
        }
        Ok(())
    }

    /// A message as it goes over a connection, with the sender's user tag before it where that may go there.
    fn frame(
        &self,
        connection: &Connection,
        sender: process::Pid,
        to: Destination,
        term: Term,
        token: Option<&Token>,
    ) -> Result<Vec<u8>, Error> {
        let from = self.local.pid(sender);
        let token = token.map(|token| token::to_term(token, from.clone()));
        let message = match (to, token) {
            (Destination::Pid(to), None) => Wire::send_sender(from, to, term),
            (Destination::Pid(to), Some(token)) => Wire::send_sender_tt(from, to, term, token),
            (Destination::Name { name, .. }, None) => Wire::reg_send(from, Atom::from(name), term),
            (Destination::Name { name, .. }, Some(token)) => Wire::reg_send_tt(from, Atom::from(name), term, token),
        };
        let node = || connection.node.clone();
        let mut bytes = Vec::with_capacity(128);
        if let Some(tag) = tag::sent().filter(|_| connection.is_ours) {
            let Ok(()) = frame::write(&mut bytes, frame::USER_TAG, |bytes| {
                bytes.extend_from_slice(tag.as_bytes());
                Ok::<_, std::convert::Infallible>(())
            });
        }
        frame::message(&mut bytes, message).map_err(|reason| Error::Encode { node: node(), reason })?;
        let limit = self.options.max_message;
        if bytes.len() > limit {
            return Err(Error::TooLarge { node: node(), size: bytes.len(), limit });
        }
        Ok(bytes)
    }

    /// A reference that no other of this node is.
    pub(super) fn reference(&self) -> Reference {
        // Relaxed: only that numbers differ matters.
        let number = self.references.fetch_add(1, Ordering::Relaxed);
        Reference {
            node: Atom::from(self.local.name.as_str()),
            id: vec![number as u32 & 0x3ffff, (number >> 18) as u32, (number >> 50) as u32],
            creation: self.local.node.creation.get(),
        }
    }
}
