//! The state of [`FileOperations`] between two openings of a trace: without references to it.

use std::collections::HashMap;
use std::path::PathBuf;
use std::ptr;

use crate::stage::{Driver, Stages};
use crate::{OperationId, Process, Request, Requester, Trace};

use super::{FileOperation, FileOperations, Last, ProcessKey, QueueStep};

/// The state, with copies of all texts.
#[derive(Debug, Default)]
pub(crate) struct Suspended {
    texts: Texts,
    /// The folders of the processes.
    processes: Vec<PathBuf>,
    drivers: Vec<String>,
    /// In the order of their entries.
    operations: Vec<SuspendedOperation>,
    last: Vec<(usize, u64, SuspendedLast)>,
    requesters: Vec<(usize, OperationId, SuspendedRequester)>,
    /// Processes, ports and paths.
    paths: Vec<(usize, TextAt, TextAt)>,
    given_up: u64,
    unmatched: u64,
}

/// Texts, one after the other.
#[derive(Debug, Default)]
struct Texts(Vec<u8>);

/// The place of a text among them.
#[derive(Clone, Copy, Debug)]
struct TextAt {
    from: usize,
    length: usize,
}

impl Texts {
    fn put(&mut self, text: &[u8]) -> TextAt {
        let from = self.0.len();
        self.0.extend_from_slice(text);
        TextAt { from, length: text.len() }
    }

    fn get(&self, TextAt { from, length }: TextAt) -> &[u8] {
        &self.0[from..from + length]
    }
}

/// An operation in flight, which has neither a completion nor an error.
#[derive(Debug)]
struct SuspendedOperation {
    process: usize,
    driver: Driver,
    id: OperationId,
    user_tag: TextAt,
    command: i32,
    strings: [TextAt; 2],
    integers: [i64; 4],
    port: TextAt,
    requester: Option<SuspendedRequester>,
    path: TextAt,
    submitter: u64,
    worker: Option<u64>,
    entered: i64,
    added: Option<QueueStep>,
    taken: Option<QueueStep>,
    int_entry: Option<i64>,
    int_return: Option<i64>,
}

#[derive(Debug)]
struct SuspendedRequester {
    process: TextAt,
    label: i32,
    previous: i32,
    current: i32,
}

#[derive(Debug)]
enum SuspendedLast {
    Entry { driver: Driver, id: OperationId, port: TextAt },
    Get(QueueStep),
}

impl SuspendedRequester {
    fn of(requester: &Requester<'_>, texts: &mut Texts) -> SuspendedRequester {
        let Requester { process, label, previous, current } = *requester;
        SuspendedRequester { process: texts.put(&process), label, previous, current }
    }

    fn resume<'t>(&self, texts: &'t Texts) -> Requester<'t> {
        let SuspendedRequester { process, label, previous, current } = *self;
        Requester { process: texts.get(process).into(), label, previous, current }
    }
}

impl SuspendedOperation {
    fn of(operation: &FileOperation<'_>, process: usize, driver: Driver, texts: &mut Texts) -> SuspendedOperation {
        SuspendedOperation {
            process,
            driver,
            id: operation.id,
            user_tag: texts.put(operation.request.user_tag),
            command: operation.request.command,
            strings: operation.request.strings.map(|text| texts.put(&text)),
            integers: operation.request.integers,
            port: texts.put(&operation.request.port),
            requester: operation.requester.as_ref().map(|requester| SuspendedRequester::of(requester, texts)),
            path: texts.put(&operation.path),
            submitter: operation.submitter,
            worker: operation.worker,
            entered: operation.entered,
            added: operation.added,
            taken: operation.taken,
            int_entry: operation.int_entry,
            int_return: operation.int_return,
        }
    }

    fn resume<'t>(&self, process: &'t Process, driver: &'t str, texts: &'t Texts) -> FileOperation<'t> {
        FileOperation {
            process,
            driver,
            id: self.id,
            request: Request {
                user_tag: texts.get(self.user_tag),
                command: self.command,
                strings: self.strings.map(|text| texts.get(text).into()),
                integers: self.integers,
                port: texts.get(self.port).into(),
            },
            requester: self.requester.as_ref().map(|requester| requester.resume(texts)),
            path: texts.get(self.path).into(),
            submitter: self.submitter,
            worker: self.worker,
            entered: self.entered,
            added: self.added,
            taken: self.taken,
            int_entry: self.int_entry,
            int_return: self.int_return,
            completion: None,
            error: &[],
        }
    }
}

impl Suspended {
    pub(crate) fn given_up(&self) -> u64 {
        self.given_up
    }

    pub(crate) fn unmatched(&self) -> u64 {
        self.unmatched
    }

    /// Returns the same state in another opening of the trace. The operations of a process that is no longer there are given up.
    pub(crate) fn resume<'t>(&'t self, trace: &'t Trace) -> FileOperations<'t> {
        let there: HashMap<_, _> = trace.processes().iter().map(|process| (&process.path, process)).collect();
        let processes: Vec<Option<&Process>> = self.processes.iter().map(|path| there.get(path).copied()).collect();
        let key_of = |process: usize| processes[process].map(key);
        let mut operations = FileOperations {
            stages: Stages::resume(self.drivers.iter().map(String::as_str).collect()),
            given_up: self.given_up,
            unmatched: self.unmatched,
            ..FileOperations::default()
        };
        for kept in &self.operations {
            let Some(process) = processes[kept.process] else {
                operations.given_up += 1;
                continue;
            };
            let key = (key(process), kept.driver, kept.id);
            let operation = kept.resume(process, operations.stages.name(kept.driver), &self.texts);
            operations.entered += 1;
            operations.in_flight.insert(operations.entered, (key, operation));
            operations.orders.insert(key, operations.entered);
        }
        operations.last.extend(self.last.iter().filter_map(|(process, tid, last)| {
            let process = key_of(*process)?;
            let last = match *last {
                SuspendedLast::Entry { driver, id, port } => {
                    Last::Entry { key: (process, driver, id), port: self.texts.get(port).into() }
                }
                SuspendedLast::Get(step) => Last::Get(step),
            };
            Some(((process, *tid), last))
        }));
        let requesters = self.requesters.iter();
        let requesters =
            requesters.filter_map(|(process, id, kept)| Some(((key_of(*process)?, *id), kept.resume(&self.texts))));
        operations.requesters.extend(requesters);
        let text = |text: TextAt| self.texts.get(text).into();
        let paths = self.paths.iter();
        let paths = paths.filter_map(|(process, port, path)| Some(((key_of(*process)?, text(*port)), text(*path))));
        operations.paths.extend(paths);
        operations
    }
}

impl FileOperations<'_> {
    /// Returns the state without references to the trace, whose events these operations are from.
    pub(crate) fn suspend(self, trace: &Trace) -> Suspended {
        let numbers: HashMap<ProcessKey, usize> =
            trace.processes().iter().enumerate().map(|(number, process)| (key(process), number)).collect();
        // Every process is one of the trace.
        let number = |process: &ProcessKey| numbers.get(process).copied();
        let mut texts = Texts::default();
        Suspended {
            processes: trace.processes().iter().map(|process| process.path.clone()).collect(),
            drivers: self.stages.drivers().iter().map(|&driver| driver.to_owned()).collect(),
            operations: self
                .in_flight
                .values()
                .filter_map(|((process, driver, _), operation)| {
                    Some(SuspendedOperation::of(operation, number(process)?, *driver, &mut texts))
                })
                .collect(),
            last: self
                .last
                .iter()
                .filter_map(|((process, tid), last)| {
                    let last = match last {
                        Last::Entry { key: (_, driver, id), port } => {
                            SuspendedLast::Entry { driver: *driver, id: *id, port: texts.put(port) }
                        }
                        Last::Get(step) => SuspendedLast::Get(*step),
                    };
                    Some((number(process)?, *tid, last))
                })
                .collect(),
            requesters: self
                .requesters
                .iter()
                .filter_map(|((process, id), requester)| {
                    Some((number(process)?, *id, SuspendedRequester::of(requester, &mut texts)))
                })
                .collect(),
            paths: self
                .paths
                .iter()
                .filter_map(|((process, port), path)| Some((number(process)?, texts.put(port), texts.put(path))))
                .collect(),
            given_up: self.given_up,
            unmatched: self.unmatched,
            texts,
        }
    }
}

fn key(process: &Process) -> ProcessKey {
    ptr::from_ref(process).addr()
}
