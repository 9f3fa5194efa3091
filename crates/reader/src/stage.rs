//! The stages of an operation, read from the fields of events.

use std::collections::HashMap;
use std::ptr;

use crate::class::OperationStep;
use crate::text::Text;
use crate::{Event, EventClass, Value};

/// The id of an operation of a process while it is in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OperationId {
    /// Number of the thread that submitted it.
    pub thread: i32,
    /// That thread's number for the operation.
    pub tag: i32,
}

/// The arguments of an operation's entry. An absent string is empty; an absent integer is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Request<'t> {
    /// `user_tag`: the user tag of the task that submitted it.
    pub user_tag: &'t [u8],
    /// `command`: the number of the command.
    pub command: i32,
    /// The first two of the other strings: s1 and s2 of the file driver.
    pub strings: [Text<'t>; 2],
    /// The first four of the other integers: i1 to i4 of the file driver.
    pub integers: [i64; 4],
    /// `port`: the port of the operation.
    pub port: Text<'t>,
}

/// A process that submitted an operation and had a sequential trace token: the arguments of `seq_trace-operation`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Requester<'t> {
    /// The pid of the process, as probes show it.
    pub process: Text<'t>,
    /// The label of its token.
    pub label: i32,
    /// The previous count of its token.
    pub previous: i32,
    /// The current count of its token.
    pub current: i32,
}

/// The arguments of an operation's return.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Returned<'t> {
    pub(crate) success: bool,
    pub(crate) errno: i32,
    pub(crate) bytes: Option<u64>,
    pub(crate) error: &'t [u8],
}

/// A driver of a trace, by its position in [`Stages::drivers`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Driver(usize);

/// A step of an operation, from one event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage<'t> {
    /// The submitting process of the operation that is entered next.
    Requester(OperationId, Requester<'t>),
    /// The port, and the queue length after the step.
    Add(Text<'t>, i64),
    Get(i64),
    Entry(Driver, OperationId, Request<'t>),
    IntEntry(Driver, OperationId),
    IntReturn(Driver, OperationId),
    Return(Driver, OperationId, Returned<'t>),
}

/// Reads stages from events; looks up the fields once per class.
#[derive(Default)]
pub(crate) struct Stages<'t> {
    /// By the address of the class.
    layouts: HashMap<usize, Option<Layout>>,
    /// Provider and prefix of the probes of each driver.
    drivers: Vec<&'t str>,
}

/// The step or the queue event that a class shows, with the positions of its fields.
#[derive(Clone, Copy)]
enum Layout {
    Requester([usize; 6]),
    Add([usize; 2]),
    Get(usize),
    Step(Driver, OperationStep, Positions),
}

/// The positions of an operation's fields; `None` if the class lacks the field.
#[derive(Clone, Copy)]
struct Positions {
    user_tag: Option<usize>,
    command: Option<usize>,
    port: Option<usize>,
    strings: [Option<usize>; 2],
    integers: [Option<usize>; 4],
    success: Option<usize>,
    errno: Option<usize>,
    bytes: Option<usize>,
    error: Option<usize>,
}

impl<'t> Stages<'t> {
    /// Returns the stage of `event`; `None` if it belongs to no operation.
    pub(crate) fn read(&mut self, event: &Event<'t>) -> Option<Stage<'t>> {
        let class = ptr::from_ref(event.class).addr();
        let layout = match self.layouts.get(&class) {
            Some(layout) => *layout,
            None => {
                let layout = self.layout(event.class);
                self.layouts.insert(class, layout);
                layout
            }
        };
        match layout? {
            Layout::Requester([thread, tag, process, label, previous, current]) => {
                let id = OperationId { thread: int(event, thread)?, tag: int(event, tag)? };
                let (label, previous, current) = (int(event, label)?, int(event, previous)?, int(event, current)?);
                Some(Stage::Requester(id, Requester { process: text(event, process)?, label, previous, current }))
            }
            Layout::Add([port, length]) => Some(Stage::Add(text(event, port)?, long(event, length)?)),
            Layout::Get(length) => Some(Stage::Get(long(event, length)?)),
            Layout::Step(driver, step, positions) => {
                let id = OperationId { thread: int(event, 0)?, tag: int(event, 1)? };
                Some(match step {
                    OperationStep::Entry => Stage::Entry(driver, id, positions.request(event)),
                    OperationStep::IntEntry => Stage::IntEntry(driver, id),
                    OperationStep::IntReturn => Stage::IntReturn(driver, id),
                    OperationStep::Return => Stage::Return(driver, id, positions.returned(event)),
                })
            }
        }
    }

    /// Stages of the same drivers in another opening of the trace.
    pub(crate) fn resume(drivers: Vec<&'t str>) -> Self {
        Self { layouts: HashMap::new(), drivers }
    }

    /// Returns the names of all drivers, each at its position.
    pub(crate) fn drivers(&self) -> &[&'t str] {
        &self.drivers
    }

    /// Returns the provider and the prefix of the probes of `driver`.
    pub(crate) fn name(&self, Driver(at): Driver) -> &'t str {
        self.drivers[at]
    }

    /// Returns `None` if the class is no stage or lacks a field.
    fn layout(&mut self, class: &'t EventClass) -> Option<Layout> {
        fn all<const N: usize>(class: &EventClass, names: [&str; N]) -> Option<[usize; N]> {
            let mut positions = [0; N];
            for (position, name) in positions.iter_mut().zip(names) {
                *position = class.position(name)?;
            }
            Some(positions)
        }
        match class.name.as_str() {
            "dyntrace:seq_trace-operation" => {
                let names = ["thread_id", "tag", "proc", "token_label", "token_previous", "token_current"];
                all(class, names).map(Layout::Requester)
            }
            "dyntrace:aio_pool-add" => all(class, ["port", "new_queue_length"]).map(Layout::Add),
            "dyntrace:aio_pool-get" => class.position("new_queue_length").map(Layout::Get),
            _ => {
                let (name, step) = class.operation_step()?;
                let known = self.drivers.iter().position(|driver| *driver == name);
                let driver = Driver(known.unwrap_or(self.drivers.len()));
                if known.is_none() {
                    self.drivers.push(name);
                }
                Some(Layout::Step(driver, step, Positions::of(class)))
            }
        }
    }
}

impl Positions {
    fn of(class: &EventClass) -> Positions {
        let (user_tag, command, port) = (class.position("user_tag"), class.position("command"), class.position("port"));
        let is_other = |at: &usize| *at > 1 && ![user_tag, command, port].contains(&Some(*at));
        let others = |is_text: bool| {
            let is_kind = move |at: &usize| class.fields[*at].is_text() == is_text;
            (0..class.fields.len()).filter(is_other).filter(is_kind)
        };
        let (mut strings, mut integers) = (others(true), others(false));
        Positions {
            user_tag,
            command,
            port,
            strings: std::array::from_fn(|_| strings.next()),
            integers: std::array::from_fn(|_| integers.next()),
            success: class.position("success"),
            errno: class.position("errno"),
            bytes: class.position("bytes"),
            error: class.position("error"),
        }
    }

    fn request<'t>(&self, event: &Event<'t>) -> Request<'t> {
        let text = |at: Option<usize>| at.and_then(|at| text(event, at)).unwrap_or_default();
        Request {
            user_tag: text(self.user_tag).in_file().unwrap_or_default(),
            command: self.command.and_then(|at| int(event, at)).unwrap_or_default(),
            strings: self.strings.map(text),
            integers: self.integers.map(|at| at.and_then(|at| long(event, at)).unwrap_or_default()),
            port: text(self.port),
        }
    }

    fn returned<'t>(&self, event: &Event<'t>) -> Returned<'t> {
        let errno = self.errno.and_then(|at| int(event, at)).unwrap_or_default();
        let error = self.error.and_then(|at| text(event, at)?.in_file()).unwrap_or_default();
        let success = match self.success.and_then(|at| long(event, at)) {
            Some(success) => success != 0,
            None => errno == 0 && error.is_empty(),
        };
        let bytes = self.bytes.and_then(|at| match event.value(at)? {
            Value::Signed(number) => number.try_into().ok(),
            Value::Unsigned(number) => Some(number),
            Value::Text(_) => None,
        });
        Returned { success, errno, bytes, error }
    }
}

fn text<'t>(event: &Event<'t>, at: usize) -> Option<Text<'t>> {
    match event.value(at)? {
        Value::Text(text) => Some(text),
        _ => None,
    }
}

fn long(event: &Event<'_>, at: usize) -> Option<i64> {
    match event.value(at)? {
        Value::Signed(number) => Some(number),
        Value::Unsigned(number) => i64::try_from(number).ok(),
        Value::Text(_) => None,
    }
}

fn int(event: &Event<'_>, at: usize) -> Option<i32> {
    long(event, at)?.try_into().ok()
}
