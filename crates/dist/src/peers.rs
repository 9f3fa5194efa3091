//! The peers of a node, and their connections.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use dyntrace_probes::primitives::{Mutex, lock};
use erl_dist::node::NodeName;
use tokio::sync::{Mutex as TaskMutex, Notify};
use tokio::time::Instant;

use super::budget::Budget;
use super::connection::Connection;
use super::error::Error;
use super::greetings::Greetings;
use super::lost::Lost;
use super::options::Options;

/// The longest pause after failed attempts.
const LONGEST: Duration = Duration::from_secs(10);

/// The smallest number of peers at which the table is swept.
const SWEPT: usize = 16;

pub(super) struct Peers {
    all: Mutex<Table>,
    pub greetings: Greetings,
    ended: AtomicBool,
    pub lost: Lost,
}

/// Peers by their names. Peers choose their names, so the table forgets those for which the node holds nothing.
struct Table {
    peers: HashMap<String, Arc<Peer>>,
    /// The number of peers at which the table is swept.
    full: usize,
}

impl Table {
    /// Forgets peers without a connection, an attempt to make one, a recent failure, or a charge.
    fn sweep(&mut self) {
        self.peers.retain(|_, peer| {
            // A caller that dials, or is about to, holds another reference.
            let Some(peer) = Arc::get_mut(peer) else { return true };
            let connected = lock(&peer.connection).is_some();
            let charged = Arc::strong_count(&peer.budget) > 1 || !peer.budget.is_unused();
            connected || charged || peer.dialling.get_mut().is_recent()
        });
        self.full = (2 * self.peers.len()).max(SWEPT);
        self.peers.shrink_to(self.full);
    }
}

pub(super) struct Peer {
    pub name: NodeName,
    /// The accounts of the memory that this node holds for the peer, over this connection and earlier ones.
    pub budget: Arc<Budget>,
    pub connection: Mutex<Option<Arc<Connection>>>,
    pub connected: Notify,
    /// Locked by the caller that connects.
    pub dialling: TaskMutex<Failures>,
    /// The number of running attempts: one, and dropped ones that have not ended yet.
    pub dials: AtomicUsize,
}

/// The failed attempts since the last success.
#[derive(Default)]
pub(super) struct Failures {
    pause: Duration,
    last: Option<(Instant, String)>,
}

impl Failures {
    pub(super) fn may_try(&self, node: &NodeName) -> Result<(), Error> {
        let Some((at, reason)) = &self.last else { return Ok(()) };
        match self.pause.checked_sub(at.elapsed()) {
            None => Ok(()),
            Some(again) => Err(Error::Unreachable { node: node.to_string(), again, reason: reason.clone() }),
        }
    }

    /// Whether a failure now would count as consecutive.
    fn is_recent(&self) -> bool {
        self.last.as_ref().is_some_and(|(at, _)| at.elapsed() < self.pause * 2)
    }

    pub(super) fn add(&mut self, reason: &Error, first: Duration) {
        self.pause = (self.pause * 2).clamp(first, LONGEST.max(first));
        self.last = Some((Instant::now(), reason.to_string()));
    }
}

impl Peers {
    pub(super) fn new() -> Peers {
        let table = Table { peers: HashMap::new(), full: SWEPT };
        Peers {
            all: Mutex::new(table),
            greetings: Greetings::default(),
            ended: AtomicBool::new(false),
            lost: Lost::default(),
        }
    }

    /// The open connection to a node, if there is one.
    pub(super) fn connected(&self, node: &str) -> Option<Arc<Connection>> {
        let peer = lock(&self.all).peers.get(node)?.clone();
        lock(&peer.connection).clone().filter(|connection| !connection.is_closed())
    }

    /// The accounts of a peer in the table.
    pub(super) fn budget(&self, node: &str) -> Option<Arc<Budget>> {
        lock(&self.all).peers.get(node).map(|peer| peer.budget.clone())
    }

    /// The number of peers in the table.
    pub(super) fn known(&self) -> usize {
        lock(&self.all).peers.len()
    }

    /// All open connections.
    pub(super) fn connections(&self) -> Vec<Arc<Connection>> {
        let connection = |peer: &Arc<Peer>| lock(&peer.connection).clone().filter(|connection| !connection.is_closed());
        lock(&self.all).peers.values().filter_map(connection).collect()
    }

    /// Ends all connections, and those that are being made.
    pub(super) fn end(&self) {
        // SeqCst, with the load in `establish`: a connection that is not found here is entered after the store, so its task sees the
        // store.
        self.ended.store(true, Ordering::SeqCst);
        for peer in lock(&self.all).peers.values() {
            if let Some(connection) = lock(&peer.connection).take() {
                connection.end("this node has ended");
            }
        }
    }

    /// Whether this node has ended.
    pub(super) fn have_ended(&self) -> bool {
        self.ended.load(Ordering::SeqCst)
    }

    /// Whether a task dials this peer.
    pub(super) fn are_dialling(&self, name: &NodeName) -> bool {
        let peer = lock(&self.all).peers.get(&name.to_string()).cloned();
        peer.is_some_and(|peer| peer.dials.load(Ordering::Relaxed) > 0)
    }

    pub(super) fn entry(&self, name: &NodeName, options: &Options) -> Arc<Peer> {
        let new = || {
            Arc::new(Peer {
                name: name.clone(),
                budget: Arc::new(Budget::new(options)),
                connection: Mutex::new(None),
                connected: Notify::new(),
                dialling: TaskMutex::default(),
                dials: AtomicUsize::new(0),
            })
        };
        let mut table = lock(&self.all);
        if table.peers.len() >= table.full {
            table.sweep();
        }
        table.peers.entry(name.to_string()).or_insert_with(new).clone()
    }

    pub(super) fn remove(&self, connection: &Arc<Connection>) {
        let Some(peer) = lock(&self.all).peers.get(&connection.node).cloned() else { return };
        let mut current = lock(&peer.connection);
        if current.as_ref().is_some_and(|current| Arc::ptr_eq(current, connection)) {
            *current = None;
        }
    }
}
