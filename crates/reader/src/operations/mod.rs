//! Joins stages into operations by process, driver and `{thread, tag}`.
//!
//! The pool's events name a port but no operation. The thread identifies it: `aio_pool-add` belongs to the entry of an operation
//! on that port that the same thread fired just before it, `aio_pool-get` to the `int_entry` just after it. If the queues are
//! full, another thread adds the operation, so it has no [`added`](FileOperation::added).
//!
//! Only operations in flight are kept, at most [`MAX_IN_FLIGHT`].

mod suspended;

use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;
use std::ptr;

pub(crate) use suspended::Suspended;

use crate::stage::{Driver, Returned, Stage, Stages};
use crate::text::Text;
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
    /// How many bytes the operation moved. `None` if its `return` has no field `bytes`, as in traces of dyntrace before that field.
    pub bytes: Option<u64>,
}

/// The driver of the file operations.
const FILE_DRIVER: &str = "dyntrace:efile_drv";

/// An operation of a driver: of the file driver, or of any driver whose probes keep to the names of
/// [`EventClass::operation_step`](crate::EventClass::operation_step). Times are nanoseconds since 1970.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FileOperation<'t> {
    /// The process that it ran in.
    pub process: &'t Process,
    /// Its driver: the provider, and its probes' names up to the step, such as `dyntrace:efile_drv`.
    pub driver: &'t str,
    /// Its id while it was in flight.
    pub id: OperationId,
    /// The arguments of its entry.
    pub request: Request<'t>,
    /// The process that submitted it, if that process had a sequential trace token.
    pub requester: Option<Requester<'t>>,
    /// Its path: its first string, else the path with which the file driver opened its port. Empty if the trace has neither.
    pub path: Text<'t>,
    /// The thread that submitted it.
    pub submitter: u64,
    /// The thread that ran the operation, if it started: an I/O thread, or the submitter.
    pub worker: Option<u64>,
    /// `entry`
    pub entered: i64,
    /// `aio_pool-add`
    pub added: Option<QueueStep>,
    /// `aio_pool-get`
    pub taken: Option<QueueStep>,
    /// `int_entry`; the last one, if an attempt of the submitter missed before the job.
    pub int_entry: Option<i64>,
    /// `int_return`
    pub int_return: Option<i64>,
    /// `return`; `None` if the operation was in flight when the trace ended.
    pub completion: Option<Completion>,
    /// The string `error` of its `return`; empty if it has none.
    pub error: &'t [u8],
}

impl FileOperation<'_> {
    /// Whether it is an operation of the file driver. The numbers of commands are the driver's.
    pub fn is_of_file_driver(&self) -> bool {
        self.driver == FILE_DRIVER
    }

    /// Returns the wait for a thread, in nanoseconds. `None` if the operation never started.
    pub fn queue_wait(&self) -> Option<i64> {
        Some(self.int_entry?.saturating_sub(self.entered))
    }

    /// Returns the time of its work, in nanoseconds. `None` if that never started or never ended.
    pub fn service(&self) -> Option<i64> {
        Some(self.int_return?.saturating_sub(self.int_entry?))
    }

    /// Returns the wait of the result for its task, in nanoseconds. `None` if the job did not run or the result was not taken.
    pub fn delivery(&self) -> Option<i64> {
        Some(self.completion?.time.saturating_sub(self.int_return?))
    }

    /// Returns the time from `entry` to `return`, in nanoseconds.
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
    stages: Stages<'t>,
    /// In the order of their entries.
    in_flight: BTreeMap<u64, (Key, FileOperation<'t>)>,
    orders: HashMap<Key, u64>,
    entered: u64,
    /// The last step of a thread, if its next step may belong to it.
    last: HashMap<(ProcessKey, u64), Last<'t>>,
    /// The submitting processes of operations that are entered next.
    requesters: HashMap<(ProcessKey, OperationId), Requester<'t>>,
    /// The path with which a port was opened.
    paths: HashMap<(ProcessKey, Text<'t>), Text<'t>>,
    given_up: u64,
    unmatched: u64,
}

/// The address of a process: the same for all of its events.
type ProcessKey = usize;

/// Names an operation in flight.
type Key = (ProcessKey, Driver, OperationId);

enum Last<'t> {
    Entry { key: Key, port: Text<'t> },
    Get(QueueStep),
}

/// The file driver's command that opens a file; its port is the new file's.
const OPEN: i32 = 1;
/// The file driver's command that closes a file.
const CLOSE: i32 = 23;

impl<'t> FileOperations<'t> {
    /// Takes the next event. Returns the operation that it completes.
    pub fn push(&mut self, event: &Event<'t>) -> Option<FileOperation<'t>> {
        let stage = self.stages.read(event)?;
        self.follow(event.process, event.tid, event.time, stage)
    }

    /// Returns the operations in flight, in the order of entry. At the end of the trace, these never returned.
    pub fn in_flight(&self) -> impl Iterator<Item = &FileOperation<'t>> {
        self.in_flight.values().map(|(_, operation)| operation)
    }

    /// Returns the number of operations dropped before their return: too many were in flight, or their id was reused.
    pub fn given_up(&self) -> u64 {
        self.given_up
    }

    /// Returns the number of events without a known operation: it was entered before the trace began, or its entry was lost.
    pub fn unmatched(&self) -> u64 {
        self.unmatched
    }

    /// Drops the operations in flight.
    pub(crate) fn forget_in_flight(&mut self) {
        self.in_flight.clear();
        self.orders.clear();
    }

    fn follow(&mut self, process: &'t Process, tid: u64, time: i64, stage: Stage<'t>) -> Option<FileOperation<'t>> {
        let in_process = ptr::from_ref(process).addr();
        let last = self.last.remove(&(in_process, tid));
        // Between entry and add, the thread may have tried the operation inline.
        if let (Stage::IntEntry(driver, id) | Stage::IntReturn(driver, id), Some(Last::Entry { key, port })) =
            (stage, &last)
            && (in_process, driver, id) == *key
        {
            remember(&mut self.last, (in_process, tid), Last::Entry { key: *key, port: *port });
        }
        match stage {
            Stage::Requester(id, requester) => remember(&mut self.requesters, (in_process, id), requester),
            Stage::Entry(driver, id, request) => {
                self.enter(process, tid, time, (driver, id), request);
                let key = (in_process, driver, id);
                remember(&mut self.last, (in_process, tid), Last::Entry { key, port: request.port });
            }
            Stage::Add(port, length) => {
                if let Some(Last::Entry { key, port: entered }) = last
                    && port == entered
                    && let Some(operation) = self.find(key)
                {
                    operation.added = Some(QueueStep { time, length });
                }
            }
            Stage::Get(length) => remember(&mut self.last, (in_process, tid), Last::Get(QueueStep { time, length })),
            Stage::IntEntry(driver, id) => {
                let operation = self.find((in_process, driver, id))?;
                operation.int_entry = Some(time);
                operation.worker = Some(tid);
                if let Some(Last::Get(taken)) = last {
                    operation.taken = Some(taken);
                }
            }
            Stage::IntReturn(driver, id) => self.find((in_process, driver, id))?.int_return = Some(time),
            Stage::Return(driver, id, Returned { success, errno, bytes, error }) => {
                let key = (in_process, driver, id);
                let operation = self.find(key)?;
                operation.completion = Some(Completion { time, tid, success, errno, bytes });
                operation.error = error;
                // The calling thread's attempt missed, and the job was cancelled.
                if operation.int_return.is_none() && operation.worker == Some(operation.submitter) {
                    (operation.int_entry, operation.worker) = (None, None);
                }
                let (_, operation) = self.orders.remove(&key).and_then(|order| self.in_flight.remove(&order))?;
                if operation.is_of_file_driver() && operation.request.command == CLOSE {
                    self.paths.remove(&(in_process, operation.request.port));
                }
                return Some(operation);
            }
        }
        None
    }

    fn enter(
        &mut self,
        process: &'t Process,
        tid: u64,
        time: i64,
        (driver, id): (Driver, OperationId),
        request: Request<'t>,
    ) {
        let in_process = ptr::from_ref(process).addr();
        let key = (in_process, driver, id);
        let same = self.orders.get(&key).copied();
        let oldest = self.in_flight.first_key_value().map(|(&order, _)| order);
        if let Some(order) = same.or(oldest.filter(|_| self.in_flight.len() == MAX_IN_FLIGHT)) {
            self.give_up(order);
        }
        let mut operation = FileOperation {
            process,
            driver: self.stages.name(driver),
            id,
            request,
            requester: self.requesters.remove(&(in_process, id)),
            path: request.strings[0],
            submitter: tid,
            worker: None,
            entered: time,
            added: None,
            taken: None,
            int_entry: None,
            int_return: None,
            completion: None,
            error: &[],
        };
        if operation.is_of_file_driver() {
            if request.command == OPEN {
                remember(&mut self.paths, (in_process, request.port), operation.path);
            }
            if operation.path.is_empty() {
                operation.path = self.paths.get(&(in_process, request.port)).copied().unwrap_or_default();
            }
        }
        self.entered += 1;
        self.in_flight.insert(self.entered, (key, operation));
        self.orders.insert(key, self.entered);
    }

    fn give_up(&mut self, order: u64) {
        if let Some((key, _)) = self.in_flight.remove(&order) {
            self.orders.remove(&key);
            self.given_up += 1;
        }
    }

    /// Returns the operation in flight with this key, or counts an unmatched event.
    fn find(&mut self, key: Key) -> Option<&mut FileOperation<'t>> {
        let order = self.orders.get(&key);
        self.unmatched += u64::from(order.is_none());
        self.in_flight.get_mut(order?).map(|(_, operation)| operation)
    }
}

/// Inserts into a map of hints, which is cleared when it is full.
fn remember<K: Hash + Eq, V>(map: &mut HashMap<K, V>, key: K, value: V) {
    if map.len() == MAX_IN_FLIGHT {
        map.clear();
    }
    map.insert(key, value);
}
