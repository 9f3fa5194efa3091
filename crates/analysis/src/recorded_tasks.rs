//! Tasks and jobs in recorded events: their polls, and their lives from spawn to exit.

use std::collections::HashMap;
use std::ptr;

use dyntrace_reader::{Event, Process, Text};

use crate::render::operation::{number, plain_text, text};

/// The most tasks that are followed at once. Of further ones only the events themselves are known.
pub const ALIVE: usize = 1 << 20;

/// One poll of a task, or the call of a job.
#[derive(Clone, Debug)]
pub struct Poll<'t> {
    pub process: &'t Process,
    pub proc: Text<'t>,
    /// Empty if the trace has only the poll's end.
    pub function: &'t [u8],
    /// The user tag that the task began with; empty if it had none, or if its spawn is not in the trace.
    pub tag: &'t [u8],
    pub tid: u64,
    pub begun: i64,
    /// `None`: in the poll when the trace ended.
    pub end: Option<End<'t>>,
}

impl<'t> Poll<'t> {
    /// One that begins at the event.
    fn begins(event: &Event<'t>, proc: Text<'t>, function: &'t [u8]) -> Poll<'t> {
        Poll { process: event.process, proc, function, tag: b"", tid: event.tid, begun: event.time, end: None }
    }
}

/// How a poll ended.
#[derive(Clone, Copy, Debug)]
pub struct End<'t> {
    pub time: i64,
    /// Nanoseconds, as the program measured them.
    pub polled: i64,
    pub outcome: &'t [u8],
}

/// A task or a job.
#[derive(Clone, Debug)]
pub struct Task<'t> {
    pub process: &'t Process,
    pub proc: Text<'t>,
    pub function: &'t [u8],
    /// The following are empty if the spawn is not in the trace.
    pub parent: Text<'t>,
    pub place: &'t [u8],
    pub tag: &'t [u8],
    pub spawned: Option<i64>,
    pub first_polled: Option<i64>,
    /// When it ended, and why. `None`: it had not ended when the trace did.
    pub exit: Option<(i64, &'t [u8])>,
    /// Those that ended, and the sum of their nanoseconds.
    pub polls: u64,
    pub busy: u64,
    /// The longest of them in nanoseconds, and when it began.
    pub longest: Option<(i64, i64)>,
}

/// A step of a task, as an event reports it.
pub enum TaskStep<'t> {
    Spawned(&'t [u8]),
    Polled(Poll<'t>),
    Ended(Task<'t>),
}

/// A task by its process and pid.
type Id<'t> = (usize, Text<'t>);

#[derive(Default)]
pub struct Tasks<'t> {
    alive: HashMap<Id<'t>, Task<'t>>,
    polled: HashMap<Id<'t>, Poll<'t>>,
    /// Tasks that were not followed.
    pub left_out: u64,
}

impl<'t> Tasks<'t> {
    /// Takes the next event, in the order of time.
    pub fn push(&mut self, event: &Event<'t>) -> Option<TaskStep<'t>> {
        let probe = event.class.name.strip_prefix("dyntrace:process-")?;
        let proc = text(event, "proc");
        let id = (ptr::from_ref(event.process).addr(), proc);
        match probe {
            "spawn" => {
                let function = plain_text(event, "fun");
                if let Some(task) = self.task(id, event, function) {
                    task.function = function;
                    task.parent = text(event, "parent");
                    task.place = plain_text(event, "place");
                    task.tag = plain_text(event, "user_tag");
                    task.spawned = Some(event.time);
                }
                Some(TaskStep::Spawned(function))
            }
            "scheduled" => {
                let function = plain_text(event, "fun");
                let tag = self.task(id, event, function).map_or(&b""[..], |task| {
                    task.first_polled.get_or_insert(event.time);
                    task.tag
                });
                self.polled.insert(id, Poll { tag, ..Poll::begins(event, proc, function) });
                None
            }
            "unscheduled" => Some(TaskStep::Polled(self.ended(id, event))),
            "exit" => {
                self.task(id, event, b"")?;
                let mut task = self.alive.remove(&id)?;
                task.exit = Some((event.time, plain_text(event, "reason")));
                Some(TaskStep::Ended(task))
            }
            _ => None,
        }
    }

    /// The tasks that had not ended when the trace did.
    pub fn alive(&self) -> impl Iterator<Item = &Task<'t>> {
        self.alive.values()
    }

    /// The user tag that a task which has not ended began with; empty if it had none, or if its spawn is not in the trace.
    pub fn tag_of(&self, process: &Process, proc: Text<'t>) -> &'t [u8] {
        self.alive.get(&(ptr::from_ref(process).addr(), proc)).map_or(b"", |task| task.tag)
    }

    /// The polls that had not ended.
    pub fn in_poll(&self) -> impl Iterator<Item = &Poll<'t>> {
        self.polled.values()
    }

    /// The poll whose end the event is.
    fn ended(&mut self, id: Id<'t>, event: &Event<'t>) -> Poll<'t> {
        let polled = number(event, "polled").max(0);
        let begun = self.polled.remove(&id);
        let task = self.task(id, event, b"");
        let poll = begun.unwrap_or_else(|| {
            let (function, tag) = task.as_ref().map_or((&b""[..], &b""[..]), |task| (task.function, task.tag));
            let begun = event.time.saturating_sub(polled);
            Poll { tag, begun, ..Poll::begins(event, id.1, function) }
        });
        if let Some(task) = task {
            task.polls += 1;
            task.busy = task.busy.saturating_add(polled.cast_unsigned());
            if task.longest.is_none_or(|(longest, _)| longest < polled) {
                task.longest = Some((polled, poll.begun));
            }
        }
        Poll { end: Some(End { time: event.time, polled, outcome: plain_text(event, "outcome") }), ..poll }
    }

    /// The task of the event. `None` if there are too many.
    fn task(&mut self, id: Id<'t>, event: &Event<'t>, function: &'t [u8]) -> Option<&mut Task<'t>> {
        if self.alive.len() >= ALIVE && !self.alive.contains_key(&id) {
            self.left_out += u64::from(event.class.probe() == "process-spawn");
            return None;
        }
        Some(self.alive.entry(id).or_insert_with(|| Task {
            process: event.process,
            proc: id.1,
            function,
            parent: Text::default(),
            place: b"",
            tag: b"",
            spawned: None,
            first_polled: None,
            exit: None,
            polls: 0,
            busy: 0,
            longest: None,
        }))
    }
}
