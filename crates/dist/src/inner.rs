//! The state that the tasks of a node share.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use erl_dist::term::{Atom, Reference};
use tokio::runtime::Handle;

use super::connection::Connection;
use super::options::Options;
use super::peers::Peers;
use super::pid::Local;
use super::processes::Processes;

pub(super) struct Inner {
    pub local: Local,
    pub cookie: String,
    pub options: Options,
    pub runtime: Handle,
    pub peers: Peers,
    pub processes: Processes,
    pub references: AtomicU64,
}

impl Inner {
    /// Returns a new reference of this node.
    pub(super) fn reference(&self) -> Reference {
        // Relaxed: the numbers need only differ.
        let number = self.references.fetch_add(1, Ordering::Relaxed);
        Reference {
            node: Atom::from(self.local.name.as_str()),
            id: vec![number as u32 & 0x3ffff, (number >> 18) as u32, (number >> 50) as u32],
            creation: self.local.node.creation.get(),
        }
    }
    /// Closes a connection, and tells the processes with bonds over it once.
    pub(super) fn lost(&self, connection: &Arc<Connection>, reason: &str) {
        connection.close(reason);
        connection.tell_once(|reason| {
            connection.fire_monitor(&self.local.name, Some(reason));
            self.peers.lost.add(&connection.node, reason);
            // Before it is removed: a new connection to the node finds this one and waits until the processes know of its end.
            self.processes.node_lost(&connection.node, &connection.budget);
            self.peers.remove(connection);
        });
    }
}
