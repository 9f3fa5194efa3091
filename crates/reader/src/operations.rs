//! Joins stages into operations by process and `{thread, tag}`.
//!
//! The pool's events name a port but no operation. The thread identifies it: `aio_pool-add` belongs to the `efile_drv-entry`
//! that the same thread fired just before it, `aio_pool-get` to the `efile_drv-int_entry` just after it. If the queues are full,
//! another thread adds the operation, so it has no [`added`](FileOperation::added).
//!
//! Only operations in flight are kept, at most [`MAX_IN_FLIGHT`].

use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;
use std::ptr;

use crate::stage::{Stage, Stages};
use crate::{Event, OperationId, Process, Request, Requester};

/// The maximum number of operations in flight. Beyond it, the oldest operation is dropped and counted.
pub const MAX_IN_FLIGHT: usize = 1 << 16;

/// An operation entered or left a queue of the pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueStep {
    /// Nanoseconds since 1970.
    pub time: i64,
    /// Length of the queue after the step.
    pub length: i64,
}

/// The return of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// Nanoseconds since 1970.
    pub time: i64,
    /// The thread that took the result.
    pub tid: u64,
    /// Whether the operation succeeded.
    pub success: bool,
    /// errno of a failure, else 0.
    pub errno: i32,
}

/// An operation of the file driver. Times are nanoseconds since 1970.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FileOperation<'t> {
    /// The process that it ran in.
    pub process: &'t Process,
    /// Its id while it was in flight.
    pub id: OperationId,
    /// The arguments of its entry.
    pub request: Request<'t>,
    /// The process that submitted it, if that process had a sequential trace token.
    pub requester: Option<Requester<'t>>,
    /// Its path: its first string, else the path with which its port was opened. Empty if the trace has neither.
    pub path: &'t [u8],
    /// The thread that submitted it.
    pub submitter: u64,
    /// The I/O thread that ran the job, if the job started.
    pub worker: Option<u64>,
    /// `efile_drv-entry`
    pub entered: i64,
    /// `aio_pool-add`
    pub added: Option<QueueStep>,
    /// `aio_pool-get`
    pub taken: Option<QueueStep>,
    /// `efile_drv-int_entry`
    pub int_entry: Option<i64>,
    /// `efile_drv-int_return`
    pub int_return: Option<i64>,
    /// `efile_drv-return`; `None` if the operation was in flight when the trace ended.
    pub completion: Option<Completion>,
}

impl FileOperation<'_> {
    /// Returns the wait for an I/O thread, in nanoseconds. `None` if its job never started.
    pub fn queue_wait(&self) -> Option<i64> {
        Some(self.int_entry?.saturating_sub(self.entered))
    }

    /// Returns the time of the job, in nanoseconds. `None` if it never started or never ended.
    pub fn service(&self) -> Option<i64> {
        Some(self.int_return?.saturating_sub(self.int_entry?))
    }

    /// Returns the wait of the result for its task, in nanoseconds. `None` if the job did not run or the result was not taken.
    pub fn delivery(&self) -> Option<i64> {
        Some(self.completion?.time.saturating_sub(self.int_return?))
    }

    /// Returns the time from `efile_drv-entry` to `efile_drv-return`, in nanoseconds.
    pub fn duration(&self) -> Option<i64> {
        Some(self.completion?.time.saturating_sub(self.entered))
    }
}

/// Joins events, in order of time, into operations.
///
/// ```
/// use dyntrace_reader::{FileOperations, Trace};
///
/// let trace = Trace::open("tests/golden")?;
/// let mut operations = FileOperations::default();
/// for event in trace.events() {
///     if let Some(operation) = operations.push(&event) {
///         println!("{} took {:?} ns", operation.request.command, operation.duration());
///     }
/// }
/// # Ok::<(), dyntrace_reader::Error>(())
/// ```
#[derive(Default)]
pub struct FileOperations<'t> {
    stages: Stages,
    /// In the order of their entries.
    in_flight: BTreeMap<u64, FileOperation<'t>>,
    orders: HashMap<(ProcessKey, OperationId), u64>,
    entered: u64,
    /// The last step of a thread, if its next step may belong to it.
    last: HashMap<(ProcessKey, u64), Last<'t>>,
    /// The submitting processes of operations that are entered next.
    requesters: HashMap<(ProcessKey, OperationId), Requester<'t>>,
    /// The path with which a port was opened.
    paths: HashMap<(ProcessKey, &'t [u8]), &'t [u8]>,
    given_up: u64,
    unmatched: u64,
}

/// The address of a process: the same for all of its events.
type ProcessKey = usize;

enum Last<'t> {
    Entry { id: OperationId, port: &'t [u8] },
    Get(QueueStep),
}

/// The command that opens a file; its port is the new file's.
const OPEN: i32 = 1;
/// The command that closes a file.
const CLOSE: i32 = 23;

impl<'t> FileOperations<'t> {
    /// Takes the next event. Returns the operation that it completes.
    pub fn push(&mut self, event: &Event<'t>) -> Option<FileOperation<'t>> {
        let stage = self.stages.read(event)?;
        self.follow(event.process, event.tid, event.time, stage)
    }

    /// Returns the operations in flight, in the order of entry. At the end of the trace, these never returned.
    pub fn in_flight(&self) -> impl Iterator<Item = &FileOperation<'t>> {
        self.in_flight.values()
    }

    /// Returns the number of operations dropped before their return: too many were in flight, or their id was reused.
    pub fn given_up(&self) -> u64 {
        self.given_up
    }

    /// Returns the number of events without a known operation: it was entered before the trace began, or its entry was lost.
    pub fn unmatched(&self) -> u64 {
        self.unmatched
    }

    fn follow(&mut self, process: &'t Process, tid: u64, time: i64, stage: Stage<'t>) -> Option<FileOperation<'t>> {
        let key = ptr::from_ref(process).addr();
        let last = self.last.remove(&(key, tid));
        // Between entry and add, the thread may have tried the operation inline.
        if let (Stage::IntEntry(id) | Stage::IntReturn(id), Some(Last::Entry { id: entered, port })) = (&stage, &last)
            && id == entered
        {
            remember(&mut self.last, (key, tid), Last::Entry { id: *entered, port });
        }
        match stage {
            Stage::Requester(id, requester) => remember(&mut self.requesters, (key, id), requester),
            Stage::Entry(id, request) => {
                self.enter(process, tid, time, id, request);
                remember(&mut self.last, (key, tid), Last::Entry { id, port: request.port });
            }
            Stage::Add(port, length) => {
                if let Some(Last::Entry { id, port: entered }) = last
                    && port == entered
                    && let Some(operation) = self.find(key, id)
                {
                    operation.added = Some(QueueStep { time, length });
                }
            }
            Stage::Get(length) => remember(&mut self.last, (key, tid), Last::Get(QueueStep { time, length })),
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
                self.find(key, id)?.completion = Some(Completion { time, tid, success, errno });
                let operation = self.orders.remove(&(key, id)).and_then(|order| self.in_flight.remove(&order))?;
                if operation.request.command == CLOSE {
                    self.paths.remove(&(key, operation.request.port));
                }
                return Some(operation);
            }
        }
        None
    }

    fn enter(&mut self, process: &'t Process, tid: u64, time: i64, id: OperationId, request: Request<'t>) {
        let key = ptr::from_ref(process).addr();
        let same = self.orders.get(&(key, id)).copied();
        let oldest = self.in_flight.first_key_value().map(|(&order, _)| order);
        if let Some(order) = same.or(oldest.filter(|_| self.in_flight.len() == MAX_IN_FLIGHT)) {
            self.give_up(order);
        }
        let named = request.strings[0];
        if request.command == OPEN {
            remember(&mut self.paths, (key, request.port), named);
        }
        let opened = || self.paths.get(&(key, request.port)).copied().unwrap_or_default();
        let operation = FileOperation {
            process,
            id,
            request,
            requester: self.requesters.remove(&(key, id)),
            path: if named.is_empty() { opened() } else { named },
            submitter: tid,
            worker: None,
            entered: time,
            added: None,
            taken: None,
            int_entry: None,
            int_return: None,
            completion: None,
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

    /// Returns the operation in flight with this id, or counts an unmatched event.
    fn find(&mut self, process: ProcessKey, id: OperationId) -> Option<&mut FileOperation<'t>> {
        let order = self.orders.get(&(process, id));
        self.unmatched += u64::from(order.is_none());
        self.in_flight.get_mut(order?)
    }
}

/// Inserts into a map of hints, which is cleared when it is full.
fn remember<K: Hash + Eq, V>(map: &mut HashMap<K, V>, key: K, value: V) {
    if map.len() == MAX_IN_FLIGHT {
        map.clear();
    }
    map.insert(key, value);
}
