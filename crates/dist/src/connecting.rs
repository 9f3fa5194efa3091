//! Makes connections: the node dials, or accepts a peer that dials.

use std::panic::Location;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use dyntrace_probes::primitives::lock;
use erl_dist::node::NodeName;
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout, timeout_at};

use super::connection::Connection;
use super::error::Error;
use super::handshake::{self, Dialled};
use super::inner::Inner;
use super::peers::{Failures, Peer};
use super::socket::Socket;
use super::strangers::StrangerPlace;
use super::stream::Stream;
use super::waits::OtherNode;
use super::{epmd, name, running};
use dyntrace_processes::waiting::Waiting;

/// The limit for asking the epmd of a peer that has connected whether the peer is a node of dyntrace.
const ASKED: Duration = Duration::from_secs(1);

/// The time of a setup whose limit is beyond the clock's range.
const LONGEST: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// A task that is aborted when its caller is dropped.
struct Aborted<T>(tokio::task::JoinHandle<T>);

impl<T> Future for Aborted<T> {
    type Output = Result<T, tokio::task::JoinError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.0).poll(context)
    }
}

impl<T> Drop for Aborted<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Counts an attempt out, even if its task is dropped.
struct Dials<'p>(&'p AtomicUsize);

impl Drop for Dials<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Inner {
    /// Returns the connection to a node. Makes one if there is none.
    pub(super) async fn connection(self: &Arc<Self>, node: &str) -> Result<Arc<Connection>, Error> {
        match self.peers.connected(node) {
            Some(connection) => Ok(connection),
            None => self.connect(&name::of_peer(node, &self.local.node.name)?).await,
        }
    }

    /// [`connection`](Inner::connection). Tracers see its wait at `place`.
    pub(super) async fn connection_at(
        self: &Arc<Self>,
        node: &str,
        place: &'static Location<'static>,
    ) -> Result<Arc<Connection>, Error> {
        Waiting::new(OtherNode::new(node, "dist::connect"), place, self.connection(node)).await
    }

    async fn connect(self: &Arc<Self>, name: &NodeName) -> Result<Arc<Connection>, Error> {
        let peer = self.peers.entry(name, &self.options);
        // On the runtime of the node: the caller may be in another one, or in none. The lock, too: a caller that is no longer polled must not
        // keep it from others.
        let inner = self.clone();
        let dials = Aborted(self.runtime.spawn(async move { inner.dial_alone(&peer).await }));
        let ended = |_| Err(Error::lost(&name.to_string(), "the runtime of this node has ended"));
        dials.await.unwrap_or_else(ended)
    }

    /// Dials when no other caller does, unless there is a connection then.
    async fn dial_alone(self: &Arc<Self>, peer: &Arc<Peer>) -> Result<Arc<Connection>, Error> {
        let mut failures = peer.dialling.lock().await;
        if let Some(connection) = self.peers.connected(&peer.name.to_string()) {
            return Ok(connection);
        }
        failures.may_try(&peer.name)?;
        let dialled = self.dial_in_time(peer).await;
        match &dialled {
            Ok(_) => *failures = Failures::default(),
            Err(reason) => failures.add(reason, self.options.backoff),
        }
        dialled
    }

    async fn dial_in_time(self: &Arc<Self>, peer: &Arc<Peer>) -> Result<Arc<Connection>, Error> {
        peer.dials.fetch_add(1, Ordering::Relaxed);
        let dials = Dials(&peer.dials);
        let name = &peer.name;
        // Counted first: see `greetings`.
        self.peers.greetings.wait(&name.to_string()).await;
        if let Some(connection) = self.peers.connected(&name.to_string()) {
            return Ok(connection);
        }
        let limit = self.options.setup_time;
        let now = Instant::now();
        let until = now.checked_add(limit).unwrap_or(now + LONGEST);
        let slow = |what| Error::TooSlow { what, node: name.to_string(), limit };
        let place = timeout_at(until, epmd::look_up(name, self.options.epmd_port)).await;
        let place = place.map_err(|_| slow("asking the epmd of its host for"))??;
        timeout_at(until, self.dial(peer, place, dials)).await.map_err(|_| slow("connecting to"))?
    }

    async fn dial(
        self: &Arc<Self>,
        peer: &Arc<Peer>,
        place: epmd::NodePort,
        dials: Dials<'_>,
    ) -> Result<Arc<Connection>, Error> {
        let name = &peer.name;
        let socket = TcpStream::connect((name.host(), place.port)).await;
        let socket = socket.map_err(|source| Error::io("cannot connect to", name, source))?;
        let socket = self.dialled(socket, name).await?;
        match handshake::dial(Stream::new(socket), &self.local.node, &self.cookie, name).await? {
            Dialled::Connected(connected) => {
                let connection = self.establish(connected, place.is_ours);
                drop(dials);
                connection
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

    #[cfg(feature = "tls")]
    async fn dialled(&self, socket: TcpStream, name: &NodeName) -> Result<Socket, Error> {
        match &self.options.tls {
            Some(tls) => tls.dial(socket, name).await,
            None => Ok(Socket::Plain(socket)),
        }
    }

    #[cfg(feature = "tls")]
    async fn accepted(&self, socket: TcpStream) -> Result<Socket, Error> {
        match &self.options.tls {
            Some(tls) => tls.accept(socket).await,
            None => Ok(Socket::Plain(socket)),
        }
    }

    #[cfg(not(feature = "tls"))]
    async fn dialled(&self, socket: TcpStream, _: &NodeName) -> Result<Socket, Error> {
        Ok(Socket::Plain(socket))
    }

    #[cfg(not(feature = "tls"))]
    async fn accepted(&self, socket: TcpStream) -> Result<Socket, Error> {
        Ok(Socket::Plain(socket))
    }

    /// Accepts a peer that has opened a socket to this node. The peer has its place until it has proved the cookie.
    pub(super) async fn accept(self: &Arc<Self>, socket: TcpStream, place: StrangerPlace) -> Result<(), Error> {
        // If both nodes dial, the connection of the node with the greater name stays.
        let mut greeting = None;
        let refuses = |name: &NodeName| {
            // Before looking for callers that dial: see `greetings`.
            greeting = Some(self.peers.greetings.leave(name.to_string()));
            self.peers.are_dialling(name) && self.local.name > name.to_string()
        };
        let proves = async {
            let socket = self.accepted(socket).await?;
            let address = socket.peer();
            handshake::accept(Stream::new(socket), address, &self.local.node, &self.cookie, refuses).await
        };
        let limit = self.options.setup_time;
        let late = |_| Error::TooSlow { what: "the handshake with", node: "a peer".to_owned(), limit };
        let peer = timeout(limit, proves).await.map_err(late)??;
        drop(place);
        // Few Erlang nodes are hidden, and epmd is near. If it is silent, the peer only loses its tags.
        let is_ours = peer.is_hidden()
            && timeout(ASKED, epmd::look_up(&peer.name, self.options.epmd_port))
                .await
                .is_ok_and(|found| found.is_ok_and(|place| place.is_ours));
        let established = self.establish(peer, is_ours).map(drop);
        drop(greeting);
        established
    }

    /// Begins to use a connection whose peer has proved the cookie. An earlier connection to the peer is lost: a peer that connects
    /// again knows that.
    fn establish(
        self: &Arc<Self>,
        connected: handshake::Peer<Socket>,
        is_ours: bool,
    ) -> Result<Arc<Connection>, Error> {
        let name = &connected.name;
        let prepared = connected.socket.tcp().set_nodelay(true);
        prepared.map_err(|source| Error::io("cannot prepare the socket to", name, source))?;
        let peer = self.peers.entry(name, &self.options);
        let connection = Connection::new(self.options.busy_limit, &connected, is_ours, peer.budget.clone());
        connection.tell_first(|| {
            // Before the connection starts: it may end at once.
            let before = lock(&peer.connection).replace(connection.clone());
            if let Some(before) = before {
                self.lost(&before, "it has connected anew");
            }
            connection.fire_monitor(&self.local.name, None);
        });
        running::start(self, &connection, connected.socket);
        peer.connected.notify_waiters();
        if self.peers.have_ended() {
            connection.end("this node has ended");
        }
        Ok(connection)
    }
}
