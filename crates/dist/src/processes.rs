//! The processes of this node that other nodes can reach: one for each inbox, with its names, links and monitors.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use dyntrace_probes::primitives::{Mutex, lock};
use erl_dist::term::{Atom, Pid, PidOrAtom, Reference, Term};
use tokio::sync::mpsc;

use super::budget::{Account, Budget, Charge};
use super::error::Error;
use super::received::Received;
use dyntrace_processes::process;

/// The memory of a down or exit message without its reason: an upper bound for the queue's part and the names.
const OF_AN_END: usize = 512;

#[derive(Default)]
pub(super) struct Processes {
    table: Mutex<Table>,
}

#[derive(Default)]
struct Table {
    processes: HashMap<u64, Process>,
    names: HashMap<String, u64>,
}

struct Process {
    inbox: Arc<InboxSender>,
    bonds: Bonds,
}

/// The bonds of a process: its links and monitors.
#[derive(Default)]
pub(super) struct Bonds {
    /// Processes that it is linked to.
    pub links: HashMap<Pid, Link>,
    /// Processes that monitor it. Two nodes may use the same reference.
    pub watchers: HashMap<(Pid, Reference), Watcher>,
    /// Processes that it monitors, with their nodes.
    pub watched: HashMap<Reference, (String, PidOrAtom)>,
}

/// A link.
#[derive(Default)]
pub(super) struct Link {
    /// The number of the unlink signal that the peer has not acknowledged.
    pub ended: Option<u64>,
    /// `None` for a live link that this side made.
    pub charge: Option<Charge>,
}

/// A monitor of another process.
pub(super) struct Watcher {
    /// The monitored pid or name.
    pub watched: PidOrAtom,
    pub _charge: Charge,
}

/// The bytes of a bond with such names. A table has up to twice the room that its entries need, and while it grows the old one still
/// exists.
pub(super) fn bond_bytes(names: &[&str]) -> usize {
    let entry = size_of::<((Pid, Reference), Watcher)>().max(size_of::<(Pid, Link)>());
    4 * entry + names.iter().map(|name| name.len() + 32).sum::<usize>()
}

/// The entrance to a process: puts messages into its inbox.
pub(super) struct InboxSender {
    pub pid: process::Pid,
    pub queue: mpsc::UnboundedSender<Queued>,
    pub state: Arc<State>,
    /// Charged for the messages in the queue.
    pub room: Arc<Account>,
}

/// The state of an inbox that its senders share.
#[derive(Debug)]
pub(super) struct State {
    /// The length of the queue.
    pub length: AtomicUsize,
    shown: AtomicU64,
}

impl State {
    pub(super) fn new(shown: process::Pid) -> State {
        State { length: AtomicUsize::new(0), shown: AtomicU64::new(shown.number()) }
    }

    /// The pid of the receiver, as tracers see it.
    pub(super) fn shown(&self) -> process::Pid {
        process::Pid::numbered(self.shown.load(Ordering::Relaxed))
    }

    pub(super) fn set_shown(&self, pid: process::Pid) {
        self.shown.store(pid.number(), Ordering::Relaxed);
    }
}

pub(super) struct Queued {
    pub received: Received,
    /// Charges of the inbox and of the peer, until the message is received.
    pub _charges: [Charge; 2],
}

impl InboxSender {
    /// Puts a message of `bytes` bytes into the mailbox, once the mailbox and the peer's account have room.
    pub(super) async fn put(&self, received: Received, bytes: usize, budget: &Budget) {
        let Some(of_peer) = budget.messages.wait(bytes).await else { return };
        // Closed: the inbox is dropped.
        let Some(of_mailbox) = self.room.wait(bytes).await else { return };
        self.put_now(received, [of_mailbox, of_peer]);
    }

    /// Puts the end of a bond into the inbox without waiting: its connection is lost.
    fn put_end(&self, received: Received, budget: &Budget) {
        self.put_now(received, [self.room.force(OF_AN_END), budget.messages.force(OF_AN_END)]);
    }

    fn put_now(&self, received: Received, charges: [Charge; 2]) {
        let length = self.state.length.fetch_add(1, Ordering::Relaxed) + 1;
        received.fire_queued(self.state.shown(), length);
        if self.queue.send(Queued { received, _charges: charges }).is_err() {
            self.state.length.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

impl Processes {
    pub(super) fn open(&self, inbox: InboxSender, name: Option<&str>) -> Result<(), Error> {
        let number = inbox.pid.number();
        let mut table = lock(&self.table);
        if let Some(name) = name {
            if name == NET_KERNEL || table.names.contains_key(name) {
                return Err(Error::Registered(name.to_owned()));
            }
            table.names.insert(name.to_owned(), number);
        }
        table.processes.insert(number, Process { inbox: Arc::new(inbox), bonds: Bonds::default() });
        Ok(())
    }

    /// Removes a process with its names, and returns its bonds.
    pub(super) fn close(&self, number: u64) -> Bonds {
        let mut table = lock(&self.table);
        table.names.retain(|_, named| *named != number);
        table.processes.remove(&number).map(|process| process.bonds).unwrap_or_default()
    }

    pub(super) fn named(&self, name: &str) -> Option<u64> {
        lock(&self.table).names.get(name).copied()
    }

    pub(super) fn inbox(&self, number: u64) -> Option<Arc<InboxSender>> {
        lock(&self.table).processes.get(&number).map(|process| process.inbox.clone())
    }

    /// Changes the bonds of the process with this number, if there is one.
    pub(super) fn bonds<R>(&self, number: u64, change: impl FnOnce(&mut Bonds) -> R) -> Option<R> {
        let mut table = lock(&self.table);
        let bonds = &mut table.processes.get_mut(&number)?.bonds;
        let result = change(bonds);
        bonds.shrink();
        Some(result)
    }

    /// Tells all processes with bonds to a node that the connection to it is lost.
    pub(super) fn node_lost(&self, node: &str, budget: &Budget) {
        let mut ends = Vec::new();
        {
            let mut table = lock(&self.table);
            for Process { inbox, bonds } in table.processes.values_mut() {
                bonds.watchers.retain(|(watcher, _), _| watcher.node.name != node);
                for (from, link) in bonds.links.extract_if(|pid, _| pid.node.name == node) {
                    if link.ended.is_none() {
                        ends.push((inbox.clone(), Received::exit(from, no_connection())));
                    }
                }
                for (monitor, (_, watched)) in bonds.watched.extract_if(|_, (of, _)| of == node) {
                    ends.push((inbox.clone(), Received::down(monitor, watched, no_connection())));
                }
                bonds.shrink();
            }
        }
        // Not under the lock: a receiver's waker is foreign code.
        for (inbox, end) in ends {
            inbox.put_end(end, budget);
        }
    }
}

/// The name that `net_adm:ping` sends to.
pub(super) const NET_KERNEL: &str = "net_kernel";

fn no_connection() -> Term {
    Atom::from("noconnection").into()
}

impl Bonds {
    /// Frees the memory of ended bonds, which is no longer charged to any peer.
    fn shrink(&mut self) {
        fn shrink<K: Eq + Hash, V>(table: &mut HashMap<K, V>) {
            // Not sooner, so that a table does not shrink and grow with each bond.
            if table.capacity() > 64 && table.len() < table.capacity() / 4 {
                table.shrink_to(2 * table.len());
            }
        }
        shrink(&mut self.links);
        shrink(&mut self.watchers);
        shrink(&mut self.watched);
    }
}
