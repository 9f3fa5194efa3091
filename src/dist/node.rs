//! A node.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use erl_dist::term::{Pid, Term};
use tokio::runtime::Handle;

use super::destination::Destination;
use super::error::Error;
use super::inner::Inner;
use super::lost::LostConnection;
use super::options::Options;
use super::peers::Peers;
use super::processes::Processes;
use super::{listener, name};
use crate::process;

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

    /// The address at which it listens.
    pub fn address(&self) -> SocketAddr {
        self.life.listener.address
    }
}
