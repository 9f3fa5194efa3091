//! The processes of this node that others can reach: one for each mailbox, with its names, links and monitors.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use erl_dist::term::{Atom, Pid, PidOrAtom, Reference, Term};
use tokio::sync::mpsc;

use super::budget::{Account, Budget, Charge};
use super::error::Error;
use super::received::Received;
use crate::process;
use crate::sync::{Mutex, lock};

/// The memory of a down or exit message without the reason's: what the queue and the names in it take, and more.
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
    door: Arc<Door>,
    bonds: Bonds,
}

/// Who is to be told when a process of this node ends, and of whom it is to be told.
#[derive(Default)]
pub(super) struct Bonds {
    /// The processes that it is linked to.
    pub links: HashMap<Pid, Link>,
    /// The processes that monitor it. Nothing keeps nodes from using the same reference.
    pub watchers: HashMap<(Pid, Reference), Watcher>,
    /// Those that it monitors, and on which node.
    pub watched: HashMap<Reference, (String, PidOrAtom)>,
}

/// A link.
#[derive(Default)]
pub(super) struct Link {
    /// The number of the step that ended it, which the other side has not acknowledged.
    pub ended: Option<u64>,
    /// None for a link that this side made and that still is one.
    pub charge: Option<Charge>,
}

/// A monitor of another process.
pub(super) struct Watcher {
    /// The pid or the name that it monitors.
    pub watched: PidOrAtom,
    pub _charge: Charge,
}

/// The bytes that a bond takes with such names in it. A table has up to twice the room that its entries need, and while it grows
/// the smaller one is there as well.
pub(super) fn bond_bytes(names: &[&str]) -> usize {
    let entry = size_of::<((Pid, Reference), Watcher)>().max(size_of::<(Pid, Link)>());
    4 * entry + names.iter().map(|name| name.len() + 32).sum::<usize>()
}

/// Where messages for a process are put.
pub(super) struct Door {
    pub pid: process::Pid,
    pub queue: mpsc::UnboundedSender<Queued>,
    pub state: Arc<State>,
    /// Pays for what is in the queue.
    pub room: Arc<Account>,
}

/// The state of an inbox that its senders see, too.
#[derive(Debug)]
pub(super) struct State {
    /// How much is in the queue.
    pub length: AtomicUsize,
    shown: AtomicU64,
}

impl State {
    pub(super) fn new(shown: process::Pid) -> State {
        State { length: AtomicUsize::new(0), shown: AtomicU64::new(shown.number()) }
    }

    /// The pid of the process that receives, as tracers are told.
    pub(super) fn shown(&self) -> process::Pid {
        process::Pid::numbered(self.shown.load(Ordering::Relaxed))
    }

    pub(super) fn set_shown(&self, pid: process::Pid) {
        self.shown.store(pid.number(), Ordering::Relaxed);
    }
}

pub(super) struct Queued {
    pub received: Received,
    /// Of the mailbox and of the peer, until it is taken out.
    pub _charges: [Charge; 2],
}

impl Door {
    /// Puts in what takes so many bytes, once the mailbox and the peer's account have room.
    pub(super) async fn put(&self, received: Received, bytes: usize, budget: &Budget) {
        let Some(of_peer) = budget.messages.wait(bytes).await else { return };
        // Closed: nobody takes anything out any more.
        let Some(of_mailbox) = self.room.wait(bytes).await else { return };
        self.put_now(received, [of_mailbox, of_peer]);
    }

    /// Puts in the end of a bond whose connection is lost, at once.
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
    pub(super) fn open(&self, door: Door, name: Option<&str>) -> Result<(), Error> {
        let number = door.pid.number();
        let mut table = lock(&self.table);
        if let Some(name) = name {
            if name == NET_KERNEL || table.names.contains_key(name) {
                return Err(Error::Registered(name.to_owned()));
            }
            table.names.insert(name.to_owned(), number);
        }
        table.processes.insert(number, Process { door: Arc::new(door), bonds: Bonds::default() });
        Ok(())
    }

    /// Removes a process with its names, and returns whom to tell.
    pub(super) fn close(&self, number: u64) -> Bonds {
        let mut table = lock(&self.table);
        table.names.retain(|_, named| *named != number);
        table.processes.remove(&number).map(|process| process.bonds).unwrap_or_default()
    }

    pub(super) fn named(&self, name: &str) -> Option<u64> {
        lock(&self.table).names.get(name).copied()
    }

    pub(super) fn door(&self, number: u64) -> Option<Arc<Door>> {
        lock(&self.table).processes.get(&number).map(|process| process.door.clone())
    }

    /// Changes the bonds of a process, if there is one of this number.
    pub(super) fn bonds<R>(&self, number: u64, change: impl FnOnce(&mut Bonds) -> R) -> Option<R> {
        let mut table = lock(&self.table);
        let bonds = &mut table.processes.get_mut(&number)?.bonds;
        let result = change(bonds);
        bonds.shrink();
        Some(result)
    }

    /// Tells the processes that had a bond with one of a node's that the connection to it is lost.
    pub(super) fn node_lost(&self, node: &str, budget: &Budget) {
        let mut ends = Vec::new();
        {
            let mut table = lock(&self.table);
            for Process { door, bonds } in table.processes.values_mut() {
                bonds.watchers.retain(|(watcher, _), _| watcher.node.name != node);
                for (from, link) in bonds.links.extract_if(|pid, _| pid.node.name == node) {
                    if link.ended.is_none() {
                        ends.push((door.clone(), Received::exit(from, no_connection())));
                    }
                }
                for (monitor, (_, watched)) in bonds.watched.extract_if(|_, (of, _)| of == node) {
                    ends.push((door.clone(), Received::down(monitor, watched, no_connection())));
                }
                bonds.shrink();
            }
        }
        // Not under the lock: a receiver's waker may do anything.
        for (door, end) in ends {
            door.put_end(end, budget);
        }
    }
}

/// The name at which nodes are asked whether they are there.
pub(super) const NET_KERNEL: &str = "net_kernel";

fn no_connection() -> Term {
    Atom::from("noconnection").into()
}

impl Bonds {
    /// Gives back the room of bonds that have ended, which nobody is charged for any more.
    fn shrink(&mut self) {
        fn shrink<K: Eq + Hash, V>(table: &mut HashMap<K, V>) {
            // Not sooner: what shrinks and grows again does not do so for each bond.
            if table.capacity() > 64 && table.len() < table.capacity() / 4 {
                table.shrink_to(2 * table.len());
            }
        }
        shrink(&mut self.links);
        shrink(&mut self.watchers);
        shrink(&mut self.watched);
    }
}
