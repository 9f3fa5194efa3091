//! The node that users hold.

use std::net::SocketAddr;
use std::panic::Location;
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
use dyntrace_processes::process;

/// A node of Erlang's distribution. Other nodes send to its inboxes by name and by pid, and it sends to their processes.
///
/// It is a *hidden* node, like C nodes: it does not appear in `nodes()`, in `global`, or in meshes of other nodes. `net_adm:ping/1`
/// finds it.
///
/// Clones are the same node. The node ends when all clones and inboxes are dropped: epmd forgets it, and its connections close when
/// they have written all sent messages, after 5 s at the latest. Tasks of its runtime do that, so before you end the runtime, wait for
/// [`Node::flush`].
#[derive(Clone)]
pub struct Node {
    pub(super) life: Arc<Life>,
}

impl std::fmt::Debug for Node {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Node").field("name", &self.name()).finish_non_exhaustive()
    }
}

/// Ends the node when the last clone and the last inbox are dropped.
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
    /// Starts a node with the default [`Options`].
    ///
    /// `name@host.domain` and `name@address` are long names, as for `erl -name`. `name@host` and `name`, which gets the name of this
    /// host, are short names, as for `erl -sname`. Nodes with long names and nodes with short names cannot talk to each other.
    ///
    /// Blocks until epmd of this host answers: about 100 us, 5 s at most.
    ///
    /// # Errors
    ///
    /// [`Error::NoEpmd`] if no epmd runs, [`Error::NameTaken`], [`Error::Name`], [`Error::NoRuntime`] outside of a tokio runtime,
    /// and those of opening a socket.
    ///
    /// ```no_run
    /// # mod dyntrace { pub use dyntrace_dist as dist; }
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

    /// Returns the full name.
    pub fn name(&self) -> String {
        self.life.inner.local.name.clone()
    }

    /// Returns the pid of the current process as other nodes see it.
    pub fn pid(&self) -> Pid {
        self.life.inner.local.pid(process::current())
    }

    /// Returns the names of the connected nodes.
    pub fn nodes(&self) -> Vec<String> {
        self.life.inner.peers.connections().iter().map(|connection| connection.node.clone()).collect()
    }

    /// Returns the last 64 connections that have ended, the latest one last, with the reasons. A peer that exceeded a limit of
    /// [`Options`] is among them.
    pub fn lost_connections(&self) -> Vec<LostConnection> {
        self.life.inner.peers.lost.all()
    }

    /// Connects to a node, unless it is connected. Sending does so by itself.
    ///
    /// # Errors
    ///
    /// Those of [`Node::send`] about the connection.
    #[track_caller]
    pub fn connect(&self, node: &str) -> impl Future<Output = Result<(), Error>> {
        let place = Location::caller();
        async move { self.life.inner.connection_at(node, place).await.map(drop) }
    }

    /// Sends a message to a process of another node, by name or by pid.
    ///
    /// The sender is the current process. Messages of one process to one node arrive in order while the connection lasts. As in
    /// Erlang, the sender does not learn whether the process exists or gets the message.
    ///
    /// Waits while [`Options::busy_limit`] bytes wait for a peer that does not read. `process-wait` and `process-resume` tell that wait, and
    /// that for a connection, with the name of the node.
    ///
    /// # Errors
    ///
    /// [`Error::Cookie`], [`Error::NoSuchNode`], [`Error::NoEpmd`], [`Error::TooSlow`] and others if it has to connect. After such a
    /// failure [`Error::Unreachable`] for a pause that doubles each time. [`Error::TooLarge`]. [`Error::Lost`] if the connection ends
    /// while the sender waits.
    ///
    /// # Cancellation
    ///
    /// A future that is dropped while it waits has sent nothing.
    #[track_caller]
    pub fn send(&self, to: impl Into<Destination>, term: Term) -> impl Future<Output = Result<(), Error>> {
        let (place, to) = (Location::caller(), to.into());
        async move {
            let sender = process::current();
            self.life.inner.send(sender, sender, to, term, place).await
        }
    }

    /// Waits until everything that was sent is written to the sockets, or the connections are lost.
    pub async fn flush(&self) {
        for connection in self.life.inner.peers.connections() {
            connection.flush().await;
        }
    }

    /// Returns the address at which the node listens.
    pub fn address(&self) -> SocketAddr {
        self.life.listener.address
    }
}
