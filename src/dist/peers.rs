//! The nodes that this one has connections to, and how it gets them.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use erl_dist::node::NodeName;
use tokio::net::TcpStream;
use tokio::sync::{Mutex as TaskMutex, Notify};
use tokio::time::{Instant, timeout};

use super::connection::Connection;
use super::error::Error;
use super::handshake::{self, Dialled};
use super::node::Inner;
use super::socket::Socket;
use super::{epmd, name};
use crate::sync::{Mutex, lock};

/// The longest pause after failures.
const LONGEST: Duration = Duration::from_secs(10);

pub(super) struct Peers {
    all: Mutex<HashMap<String, Arc<Peer>>>,
    ended: AtomicBool,
}

struct Peer {
    name: NodeName,
    connection: Mutex<Option<Arc<Connection>>>,
    connected: Notify,
    /// Held by the one who connects.
    dialling: TaskMutex<Failures>,
    /// Whether that one is at it.
    dials: AtomicBool,
}

/// What came of the attempts since the last one that succeeded.
#[derive(Default)]
struct Failures {
    pause: Duration,
    last: Option<(Instant, String)>,
}

impl Failures {
    fn may_try(&self, node: &NodeName) -> Result<(), Error> {
        let Some((at, reason)) = &self.last else { return Ok(()) };
        match self.pause.checked_sub(at.elapsed()) {
            None => Ok(()),
            Some(again) => Err(Error::Unreachable { node: node.to_string(), again, reason: reason.clone() }),
        }
    }

    fn add(&mut self, reason: &Error, first: Duration) {
        self.pause = (self.pause * 2).clamp(first, LONGEST.max(first));
        self.last = Some((Instant::now(), reason.to_string()));
    }
}

/// Says that nobody dials any more, also where the one who did is dropped.
struct Dials<'p>(&'p AtomicBool);

impl Drop for Dials<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Relaxed);
    }
}

impl Peers {
    pub(super) fn new() -> Peers {
        Peers { all: Mutex::new(HashMap::new()), ended: AtomicBool::new(false) }
    }

    /// The connection to a node that is there.
    pub(super) fn connected(&self, node: &str) -> Option<Arc<Connection>> {
        let peer = lock(&self.all).get(node)?.clone();
        lock(&peer.connection).clone().filter(|connection| !connection.is_closed())
    }

    /// The connections that there are.
    pub(super) fn connections(&self) -> Vec<Arc<Connection>> {
        lock(&self.all).values().filter_map(|peer| lock(&peer.connection).clone()).collect()
    }

    /// Closes all connections, those as well that are being made.
    pub(super) fn end(&self) {
        // SeqCst, with the load in `establish`: a connection that is not found here was not there before the store, so that who
        // makes it sees it.
        self.ended.store(true, Ordering::SeqCst);
        for peer in lock(&self.all).values() {
            if let Some(connection) = lock(&peer.connection).take() {
                connection.close("this node has ended");
            }
        }
    }

    fn entry(&self, name: &NodeName) -> Arc<Peer> {
        let new = || {
            Arc::new(Peer {
                name: name.clone(),
                connection: Mutex::new(None),
                connected: Notify::new(),
                dialling: TaskMutex::default(),
                dials: AtomicBool::new(false),
            })
        };
        lock(&self.all).entry(name.to_string()).or_insert_with(new).clone()
    }

    fn remove(&self, connection: &Arc<Connection>) {
        let Some(peer) = lock(&self.all).get(&connection.node).cloned() else { return };
        let mut current = lock(&peer.connection);
        if current.as_ref().is_some_and(|current| Arc::ptr_eq(current, connection)) {
            *current = None;
        }
    }
}

impl Inner {
    /// The connection to a node; makes one if there is none.
    pub(super) async fn connection(self: &Arc<Self>, node: &str) -> Result<Arc<Connection>, Error> {
        match self.peers.connected(node) {
            Some(connection) => Ok(connection),
            None => self.connect(&name::of_peer(node, &self.local.node.name)?).await,
        }
    }

    async fn connect(self: &Arc<Self>, name: &NodeName) -> Result<Arc<Connection>, Error> {
        let peer = self.peers.entry(name);
        let mut failures = peer.dialling.lock().await;
        if let Some(connection) = self.peers.connected(&name.to_string()) {
            return Ok(connection);
        }
        failures.may_try(name)?;
        peer.dials.store(true, Ordering::Relaxed);
        let dials = Dials(&peer.dials);
        let limit = self.options.setup_time;
        let dialled = timeout(limit, self.dial(&peer, dials)).await;
        let dialled =
            dialled.unwrap_or_else(|_| Err(Error::TooSlow { what: "connecting to", node: name.to_string(), limit }));
        match &dialled {
            Ok(_) => *failures = Failures::default(),
            Err(reason) => failures.add(reason, self.options.backoff),
        }
        dialled
    }

    async fn dial(self: &Arc<Self>, peer: &Arc<Peer>, dials: Dials<'_>) -> Result<Arc<Connection>, Error> {
        let name = &peer.name;
        let place = epmd::look_up(name, self.options.epmd_port).await?;
        let socket = TcpStream::connect((name.host(), place.port)).await;
        let socket = socket.map_err(|source| Error::io("cannot connect to", name, source))?;
        let socket = self.dialled(socket, name).await?;
        match handshake::dial(socket, &self.local.node, &self.cookie, name).await? {
            Dialled::Connected(connected) => {
                let connection = self.establish(connected, place.is_ours);
                drop(dials);
                Ok(connection)
            }
            Dialled::ItConnects => {
                drop(dials);
                loop {
                    let connected = peer.connected.notified();
                    if let Some(connection) = self.peers.connected(&name.to_string()) {
                        return Ok(connection);
                    }
                    connected.await;
                }
            }
        }
    }

    #[cfg(feature = "dist-tls")]
    async fn dialled(&self, socket: TcpStream, name: &NodeName) -> Result<Socket, Error> {
        match &self.options.tls {
            Some(tls) => tls.dial(socket, name).await,
            None => Ok(Socket::Plain(socket)),
        }
    }

    #[cfg(feature = "dist-tls")]
    async fn accepted(&self, socket: TcpStream) -> Result<Socket, Error> {
        match &self.options.tls {
            Some(tls) => tls.accept(socket).await,
            None => Ok(Socket::Plain(socket)),
        }
    }

    #[cfg(not(feature = "dist-tls"))]
    async fn dialled(&self, socket: TcpStream, _: &NodeName) -> Result<Socket, Error> {
        Ok(Socket::Plain(socket))
    }

    #[cfg(not(feature = "dist-tls"))]
    async fn accepted(&self, socket: TcpStream) -> Result<Socket, Error> {
        Ok(Socket::Plain(socket))
    }

    /// Lets a peer connect that has opened a socket to this node.
    pub(super) async fn accept(self: &Arc<Self>, socket: TcpStream) -> Result<(), Error> {
        // Where both dial, the connection of the one with the greater name stays.
        let refuses = |name: &NodeName| {
            let peer = lock(&self.peers.all).get(&name.to_string()).cloned();
            peer.is_some_and(|peer| peer.dials.load(Ordering::Relaxed)) && self.local.name > name.to_string()
        };
        let socket = self.accepted(socket).await?;
        let peer = handshake::accept(socket, &self.local.node, &self.cookie, refuses).await?;
        let hidden = !peer.flags.contains(erl_dist::DistributionFlags::PUBLISHED);
        // Erlang's nodes are hidden seldom, and epmd is near.
        let is_ours =
            hidden && epmd::look_up(&peer.name, self.options.epmd_port).await.is_ok_and(|place| place.is_ours);
        self.establish(peer, is_ours);
        Ok(())
    }

    /// Begins to use a connection whose peer has proved to know the cookie. One that was there before is lost: a peer that
    /// connects anew knows that it is.
    fn establish(self: &Arc<Self>, connected: handshake::Peer, is_ours: bool) -> Arc<Connection> {
        let peer = self.peers.entry(&connected.name);
        let connection = Connection::new(self, &connected.name, is_ours);
        // Before it begins: it may end at once.
        let before = lock(&peer.connection).replace(connection.clone());
        if let Some(before) = before {
            self.lost(&before, "it has connected anew");
        }
        connection.start(self, connected.socket);
        peer.connected.notify_waiters();
        if self.peers.ended.load(Ordering::SeqCst) {
            connection.close("this node has ended");
        }
        connection
    }

    /// Tells everybody whom it concerns that a connection is lost, once.
    pub(super) fn lost(&self, connection: &Arc<Connection>, reason: &str) {
        if connection.close(reason) {
            self.peers.remove(connection);
            self.processes.node_lost(&connection.node);
        }
    }
}
