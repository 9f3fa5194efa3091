//! The processes of this node that others can reach: one for each mailbox, with its names, links and monitors.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use erl_dist::term::{Atom, Pid, PidOrAtom, Reference, Term};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};

use super::error::Error;
use super::received::Received;
use crate::process;
use crate::sync::{Mutex, lock};

/// How many links and monitors others may have to one process.
const WATCHERS: usize = 1 << 16;

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
    door: Door,
    bonds: Bonds,
}

/// Who is to be told when a process of this node ends, and of whom it is to be told.
#[derive(Default)]
pub(super) struct Bonds {
    /// The processes it is linked to; those that it is not linked to any more, but that have not acknowledged it, have the
    /// number of that step.
    pub links: HashMap<Pid, Option<u64>>,
    /// Those that monitor it, and as what.
    pub watchers: HashMap<Reference, (Pid, PidOrAtom)>,
    /// Those that it monitors, and on which node.
    pub watched: HashMap<Reference, (String, PidOrAtom)>,
}

/// Where messages for a process are put.
#[derive(Clone)]
pub(super) struct Door {
    pub pid: process::Pid,
    pub queue: mpsc::UnboundedSender<Queued>,
    pub length: Arc<AtomicUsize>,
    /// The bytes that it still has room for.
    pub room: Arc<Semaphore>,
    pub limit: usize,
}

pub(super) struct Queued {
    pub received: Received,
    /// Gives back its room when it is taken.
    pub _room: Option<OwnedSemaphorePermit>,
}

impl Door {
    /// Puts something in that takes so many bytes, once there is room.
    pub(super) async fn put(&self, received: Received, bytes: usize) {
        let bytes = bytes.min(self.limit).try_into().unwrap_or(u32::MAX);
        // Closed: nobody takes anything out any more.
        let Ok(room) = self.room.clone().acquire_many_owned(bytes).await else { return };
        self.put_now(received, Some(room));
    }

    fn put_now(&self, received: Received, room: Option<OwnedSemaphorePermit>) {
        let length = self.length.fetch_add(1, Ordering::Relaxed) + 1;
        received.fire_queued(self.pid, length);
        if self.queue.send(Queued { received, _room: room }).is_err() {
            self.length.fetch_sub(1, Ordering::Relaxed);
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
        table.processes.insert(number, Process { door, bonds: Bonds::default() });
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

    pub(super) fn door(&self, number: u64) -> Option<Door> {
        lock(&self.table).processes.get(&number).map(|process| process.door.clone())
    }

    /// Changes the bonds of a process, if there is one of this number.
    pub(super) fn bonds<R>(&self, number: u64, change: impl FnOnce(&mut Bonds) -> R) -> Option<R> {
        lock(&self.table).processes.get_mut(&number).map(|process| change(&mut process.bonds))
    }

    /// The connection to a node is lost: who had a bond with one of its processes is told.
    pub(super) fn node_lost(&self, node: &str) {
        let mut table = lock(&self.table);
        for process in table.processes.values_mut() {
            let Bonds { links, watchers, watched } = &mut process.bonds;
            watchers.retain(|_, (watcher, _)| watcher.node.name != node);
            for (from, unlinking) in links.extract_if(|pid, _| pid.node.name == node) {
                if unlinking.is_none() {
                    process.door.put_now(Received::exit(from, no_connection()), None);
                }
            }
            for (monitor, (_, watched)) in watched.extract_if(|_, (of, _)| of == node) {
                process.door.put_now(Received::down(monitor, watched, no_connection()), None);
            }
        }
    }
}

/// The name at which nodes are asked whether they are there.
pub(super) const NET_KERNEL: &str = "net_kernel";

fn no_connection() -> Term {
    Atom::from("noconnection").into()
}

impl Bonds {
    /// Whether a peer may add another.
    pub(super) fn has_room(&self) -> bool {
        self.links.len() + self.watchers.len() < WATCHERS
    }
}
