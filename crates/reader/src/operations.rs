//! From stages to operations: the events of one operation are joined by its process and `{thread, tag}`.
//!
//! The pool's events name no operation, only a port. They are told apart by the thread: `aio_pool-add` belongs to the
//! `efile_drv-entry` that the same thread fired just before it, `aio_pool-get` to the `efile_drv-int_entry` just after it. An
//! operation that found the queues full is added by another thread, and so has no [`added`](Operation::added).
//!
//! Memory holds the operations in flight only, and of these at most [`IN_FLIGHT`].

use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;
use std::ptr;

use crate::stage::{Stage, Stages};
use crate::{Asked, Asker, Event, OperationId, Process};

/// How many operations may be in flight at once. Of more, the one that was entered first is given up and counted.
pub const IN_FLIGHT: usize = 1 << 16;

/// When a queue of the pool took or gave an operation, and how long the queue was after that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Queued {
    /// Nanoseconds since 1970.
    pub time: i64,
    /// Length of the queue after the step.
    pub length: i64,
}

/// The answer to an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Nanoseconds since 1970.
    pub time: i64,
    /// The thread where the answer was taken.
    pub tid: u64,
    /// Whether it succeeded.
    pub success: bool,
    /// errno of a failure, else 0.
    pub errno: i32,
}

/// An operation of the file driver. Times are nanoseconds since 1970.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Operation<'t> {
    /// The process that it ran in.
    pub process: &'t Process,
    /// What named it while it was in flight.
    pub id: OperationId,
    /// What it was asked to do.
    pub asked: Asked<'t>,
    /// Who asked for it, if that was for a sequential trace.
    pub asker: Option<Asker<'t>>,
    /// The path that it worked on: its own first string, else that with which its port was opened. Empty where the trace does not tell.
    pub path: &'t [u8],
    /// The thread that submitted it.
    pub submitter: u64,
    /// The I/O thread that did the work, if the work began.
    pub worker: Option<u64>,
    /// `efile_drv-entry`
    pub entered: i64,
    /// `aio_pool-add`
    pub added: Option<Queued>,
    /// `aio_pool-get`
    pub taken: Option<Queued>,
    /// `efile_drv-int_entry`
    pub int_entry: Option<i64>,
    /// `efile_drv-int_return`
    pub int_return: Option<i64>,
    /// `efile_drv-return`; `None` if the operation was in flight when the trace ended.
    pub answer: Option<Answer>,
}

impl Operation<'_> {
    /// How long it waited for an I/O thread, in nanoseconds. `None` if its work never began.
    pub fn queue_wait(&self) -> Option<i64> {
        Some(self.int_entry?.saturating_sub(self.entered))
    }

    /// How long the work took, in nanoseconds. `None` if it never began or never ended.
    pub fn service(&self) -> Option<i64> {
        Some(self.int_return?.saturating_sub(self.int_entry?))
    }

    /// How long the answer waited for whoever asked, in nanoseconds. `None` if the work was not done, or the answer not taken.
    pub fn delivery(&self) -> Option<i64> {
        Some(self.answer?.time.saturating_sub(self.int_return?))
    }

    /// From `efile_drv-entry` to `efile_drv-return`, in nanoseconds.
    pub fn duration(&self) -> Option<i64> {
        Some(self.answer?.time.saturating_sub(self.entered))
    }
}

/// Joins events, given in the order of time, into operations.
///
/// ```
/// use dyntrace_reader::{Operations, Trace};
///
/// let trace = Trace::open("tests/golden")?;
/// let mut operations = Operations::default();
/// for event in trace.events() {
///     if let Some(operation) = operations.push(&event) {
///         println!("{} took {:?} ns", operation.asked.command, operation.duration());
///     }
/// }
/// # Ok::<(), dyntrace_reader::Error>(())
/// ```
#[derive(Default)]
pub struct Operations<'t> {
    stages: Stages,
    /// By the order of their entries.
    in_flight: BTreeMap<u64, Operation<'t>>,
    orders: HashMap<(ProcessKey, OperationId), u64>,
    entered: u64,
    /// The step that a thread did last, if the next one may belong to it.
    last: HashMap<(ProcessKey, u64), Last<'t>>,
    /// Who asks for operations that are entered next.
    askers: HashMap<(ProcessKey, OperationId), Asker<'t>>,
    /// The path with which a port was opened.
    paths: HashMap<(ProcessKey, &'t [u8]), &'t [u8]>,
    given_up: u64,
    unmatched: u64,
}

/// The address of a process: the same for all of its events.
type ProcessKey = usize;

enum Last<'t> {
    Entry { id: OperationId, port: &'t [u8] },
    Get(Queued),
}

/// The command that opens a file, in the name of the file's new port.
const OPEN: i32 = 1;
/// The command that closes it.
const CLOSE: i32 = 23;

impl<'t> Operations<'t> {
    /// The next event. Answers the operation that ends with it.
    pub fn push(&mut self, event: &Event<'t>) -> Option<Operation<'t>> {
        let stage = self.stages.read(event)?;
        self.follow(event.process, event.tid, event.time, stage)
    }

    /// What is in flight now, in the order of entry: at the end of the trace, what was never answered in it.
    pub fn in_flight(&self) -> impl Iterator<Item = &Operation<'t>> {
        self.in_flight.values()
    }

    /// How many operations were given up before their answer: too many were in flight, or their id came again.
    pub fn given_up(&self) -> u64 {
        self.given_up
    }

    /// How many events belonged to no known operation: it was entered before the trace began, or its entry was lost.
    pub fn unmatched(&self) -> u64 {
        self.unmatched
    }

    fn follow(&mut self, process: &'t Process, tid: u64, time: i64, stage: Stage<'t>) -> Option<Operation<'t>> {
        let key = ptr::from_ref(process).addr();
        let last = self.last.remove(&(key, tid));
        // Between entry and add, the thread may have tried to do without the pool.
        if let (Stage::IntEntry(id) | Stage::IntReturn(id), Some(Last::Entry { id: entered, port })) = (&stage, &last)
            && id == entered
        {
            remember(&mut self.last, (key, tid), Last::Entry { id: *entered, port });
        }
        match stage {
            Stage::Asker(id, asker) => remember(&mut self.askers, (key, id), asker),
            Stage::Entry(id, asked) => {
                self.enter(process, tid, time, id, asked);
                remember(&mut self.last, (key, tid), Last::Entry { id, port: asked.port });
            }
            Stage::Add(port, length) => {
                if let Some(Last::Entry { id, port: entered }) = last
                    && port == entered
                    && let Some(operation) = self.find(key, id)
                {
                    operation.added = Some(Queued { time, length });
                }
            }
            Stage::Get(length) => remember(&mut self.last, (key, tid), Last::Get(Queued { time, length })),
            Stage::IntEntry(id) => {
                let operation = self.find(key, id)?;
                operation.int_entry = Some(time);
                operation.worker = Some(tid);
                if let Some(Last::Get(taken)) = last {
                    operation.taken = Some(taken);
                }
            }
            Stage::IntReturn(id) => self.find(key, id)?.int_return = Some(time),
            Stage::Return { id, success, errno } => {
                self.find(key, id)?.answer = Some(Answer { time, tid, success, errno });
                let operation = self.orders.remove(&(key, id)).and_then(|order| self.in_flight.remove(&order))?;
                if operation.asked.command == CLOSE {
                    self.paths.remove(&(key, operation.asked.port));
                }
                return Some(operation);
            }
        }
        None
    }

    fn enter(&mut self, process: &'t Process, tid: u64, time: i64, id: OperationId, asked: Asked<'t>) {
        let key = ptr::from_ref(process).addr();
        let same = self.orders.get(&(key, id)).copied();
        let oldest = self.in_flight.first_key_value().map(|(&order, _)| order);
        if let Some(order) = same.or(oldest.filter(|_| self.in_flight.len() == IN_FLIGHT)) {
            self.give_up(order);
        }
        let named = asked.strings[0];
        if asked.command == OPEN {
            remember(&mut self.paths, (key, asked.port), named);
        }
        let opened = || self.paths.get(&(key, asked.port)).copied().unwrap_or_default();
        let operation = Operation {
            process,
            id,
            asked,
            asker: self.askers.remove(&(key, id)),
            path: if named.is_empty() { opened() } else { named },
            submitter: tid,
            worker: None,
            entered: time,
            added: None,
            taken: None,
            int_entry: None,
            int_return: None,
            answer: None,
        };
        self.entered += 1;
        self.in_flight.insert(self.entered, operation);
        self.orders.insert((key, id), self.entered);
    }

    fn give_up(&mut self, order: u64) {
        if let Some(operation) = self.in_flight.remove(&order) {
            self.orders.remove(&(ptr::from_ref(operation.process).addr(), operation.id));
            self.given_up += 1;
        }
    }

    /// The operation in flight that has this id. If there is none, that is counted.
    fn find(&mut self, process: ProcessKey, id: OperationId) -> Option<&mut Operation<'t>> {
        let order = self.orders.get(&(process, id));
        self.unmatched += u64::from(order.is_none());
        self.in_flight.get_mut(order?)
    }
}

/// Inserts into a map that helps but must not grow: when it is full it starts anew.
fn remember<K: Hash + Eq, V>(map: &mut HashMap<K, V>, key: K, value: V) {
    if map.len() == IN_FLIGHT {
        map.clear();
    }
    map.insert(key, value);
}
