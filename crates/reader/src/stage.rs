//! The stages of a file operation, read from the fields of events.

use std::collections::HashMap;
use std::ptr;

use crate::{Event, EventClass, Value};

/// The id of an operation of a process while it is in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OperationId {
    /// Number of the thread that submitted it.
    pub thread: i32,
    /// That thread's number for the operation.
    pub tag: i32,
}

/// The arguments of an operation's `efile_drv-entry`. An absent string is empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Request<'t> {
    /// The user tag of the task that submitted it.
    pub user_tag: &'t [u8],
    /// Number of the command.
    pub command: i32,
    /// The string arguments of the command: s1, s2.
    pub strings: [&'t [u8]; 2],
    /// The integer arguments of the command: i1 to i4.
    pub integers: [i64; 4],
    /// The port of the operation.
    pub port: &'t [u8],
}

/// A process that submitted an operation and had a sequential trace token: the arguments of `seq_trace-operation`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Requester<'t> {
    /// The pid of the process, as probes show it.
    pub process: &'t [u8],
    /// The label of its token.
    pub label: i32,
    /// The previous count of its token.
    pub previous: i32,
    /// The current count of its token.
    pub current: i32,
}

/// A step of an operation, from one event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage<'t> {
    /// The submitting process of the operation that is entered next.
    Requester(OperationId, Requester<'t>),
    Entry(OperationId, Request<'t>),
    /// The port, and the queue length after the step.
    Add(&'t [u8], i64),
    Get(i64),
    IntEntry(OperationId),
    IntReturn(OperationId),
    Return {
        id: OperationId,
        success: bool,
        errno: i32,
    },
}

/// Reads stages from events; looks up the fields once per class.
#[derive(Default)]
pub(crate) struct Stages {
    /// By the address of the class.
    layouts: HashMap<usize, Option<Layout>>,
}

/// The reader of a class, and the positions of its fields in the order of [`STAGES`].
#[derive(Clone, Copy)]
struct Layout {
    read: for<'t> fn(&Fields<'_, 't>) -> Option<Stage<'t>>,
    positions: [usize; 11],
}

struct Fields<'a, 't> {
    event: &'a Event<'t>,
    positions: &'a [usize; 11],
}

type Read = for<'t> fn(&Fields<'_, 't>) -> Option<Stage<'t>>;

/// The probes, their fields, and functions that read a stage from the fields.
const STAGES: [(&str, &[&str], Read); 7] = [
    (
        "seq_trace-operation",
        &["thread_id", "tag", "proc", "token_label", "token_previous", "token_current"],
        |fields| {
            let (label, previous, current) = (fields.int(3)?, fields.int(4)?, fields.int(5)?);
            Some(Stage::Requester(fields.id()?, Requester { process: fields.text(2)?, label, previous, current }))
        },
    ),
    (
        "efile_drv-entry",
        &["thread_id", "tag", "user_tag", "command", "s1", "s2", "i1", "i2", "i3", "i4", "port"],
        |fields| {
            let request = Request {
                user_tag: fields.text(2)?,
                command: fields.int(3)?,
                strings: [fields.text(4)?, fields.text(5)?],
                integers: [fields.long(6)?, fields.long(7)?, fields.long(8)?, fields.long(9)?],
                port: fields.text(10)?,
            };
            Some(Stage::Entry(fields.id()?, request))
        },
    ),
    ("aio_pool-add", &["port", "new_queue_length"], |fields| Some(Stage::Add(fields.text(0)?, fields.long(1)?))),
    ("aio_pool-get", &["new_queue_length"], |fields| Some(Stage::Get(fields.long(0)?))),
    ("efile_drv-int_entry", &["thread_id", "tag"], |fields| Some(Stage::IntEntry(fields.id()?))),
    ("efile_drv-int_return", &["thread_id", "tag"], |fields| Some(Stage::IntReturn(fields.id()?))),
    ("efile_drv-return", &["thread_id", "tag", "success", "errno"], |fields| {
        Some(Stage::Return { id: fields.id()?, success: fields.int(2)? != 0, errno: fields.int(3)? })
    }),
];

impl Stages {
    /// Returns the stage of `event`; `None` if it belongs to no file operation.
    pub(crate) fn read<'t>(&mut self, event: &Event<'t>) -> Option<Stage<'t>> {
        let class = ptr::from_ref(event.class).addr();
        let layout = self.layouts.entry(class).or_insert_with(|| Layout::of(event.class));
        let Layout { read, positions } = layout.as_ref()?;
        read(&Fields { event, positions })
    }
}

impl Layout {
    /// Returns `None` if the class is no stage or lacks a field.
    fn of(class: &EventClass) -> Option<Self> {
        let (_, names, read) = STAGES.into_iter().find(|(probe, ..)| *probe == class.probe())?;
        let mut positions = [0; 11];
        for (position, name) in positions.iter_mut().zip(names) {
            *position = class.position(name)?;
        }
        (class.provider() == "dyntrace").then_some(Layout { read, positions })
    }
}

impl<'t> Fields<'_, 't> {
    fn text(&self, field: usize) -> Option<&'t [u8]> {
        match self.event.value(self.positions[field])? {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    fn long(&self, field: usize) -> Option<i64> {
        match self.event.value(self.positions[field])? {
            Value::Signed(number) => Some(number),
            Value::Unsigned(number) => i64::try_from(number).ok(),
            Value::Text(_) => None,
        }
    }

    fn int(&self, field: usize) -> Option<i32> {
        self.long(field)?.try_into().ok()
    }

    fn id(&self) -> Option<OperationId> {
        Some(OperationId { thread: self.int(0)?, tag: self.int(1)? })
    }
}
