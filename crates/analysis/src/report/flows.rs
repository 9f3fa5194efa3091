//! The sequential traces in a recording.

use std::collections::HashMap;

use dyntrace_reader::{Event, FileOperation, Text};

use crate::render::operation::text;
use crate::token::{Serial, Token};

/// How many are followed. Events of others are only counted.
const FOLLOWED: usize = 4096;

/// How many steps of one are kept for its picture.
const STEPS: usize = 128;

/// How many are shown.
const SHOWN: usize = 20;

#[derive(Default)]
pub struct Flows<'t> {
    by_label: HashMap<i32, Flow<'t>>,
    /// How many events had labels that are not followed.
    pub left_out: u64,
}

/// A sequential trace.
#[derive(Default)]
pub struct Flow<'t> {
    pub label: i32,
    /// The times of its first and its last event.
    pub first: i64,
    pub last: i64,
    /// How many messages were sent.
    pub messages: u64,
    /// How many operations there were.
    pub operations: u64,
    pub processes: Vec<Process<'t>>,
    /// Its first steps.
    pub steps: Vec<Step<'t>>,
    on_their_way: HashMap<Message<'t>, (Option<usize>, i64)>,
}

/// A process, with the pid of its program.
pub type Process<'t> = (u64, Text<'t>);

/// The receiver of a message, if it is on this node, and the message's serial.
type Message<'t> = (Option<Process<'t>>, Serial);

/// A step of a sequential trace, with the positions of processes in the list.
pub enum Step<'t> {
    /// `from` is `None` if the message was sent outside of the recording.
    Message { from: Option<usize>, to: usize, sent: i64, received: i64 },
    Operation {
        of: usize,
        /// Its driver and command.
        kind: (&'t str, i32),
        begin: i64,
        end: i64,
    },
}

impl<'t> Flows<'t> {
    /// Takes an event, which may be about a message.
    pub fn message(&mut self, event: &Event<'t>) {
        if !event.class.name.starts_with("dyntrace:message-") {
            return;
        }
        let Some(Token { label, serial }) = Token::of(event) else { return };
        let Some(flow) = self.at(label, event.time) else { return };
        let process = |field| (event.process.pid, text(event, field));
        match event.class.probe() {
            probe @ ("message-send" | "message-send-remote") => {
                let from = Some(flow.process(process("sender")));
                flow.send(((probe == "message-send").then(|| process("receiver")), serial), from, event.time);
            }
            "message-receive" => {
                let receiver = process("receiver");
                let sent = [Some(receiver), None].into_iter().find_map(|to| flow.on_their_way.remove(&(to, serial)));
                let (from, sent) = sent.unwrap_or((None, event.time));
                let to = flow.process(receiver);
                flow.step(Step::Message { from, to, sent, received: event.time });
            }
            _ => {}
        }
    }

    /// Takes an operation that was answered.
    pub fn operation(&mut self, operation: &FileOperation<'t>) {
        let Some((asker, answer)) = operation.requester.zip(operation.completion) else { return };
        let Some(flow) = self.at(asker.label, operation.entered) else { return };
        flow.last = flow.last.max(answer.time);
        flow.operations += 1;
        let of = flow.process((operation.process.pid, asker.process));
        flow.step(Step::Operation {
            of,
            kind: (operation.driver, operation.request.command),
            begin: operation.entered,
            end: answer.time,
        });
    }

    /// The longest ones, the longest first, and the number of all.
    pub fn longest(self) -> (Vec<Flow<'t>>, usize) {
        let mut flows: Vec<Flow<'t>> = self.by_label.into_values().collect();
        flows.sort_by_key(|flow| (flow.first.saturating_sub(flow.last), flow.label));
        let count = flows.len();
        flows.truncate(SHOWN);
        (flows, count)
    }

    fn at(&mut self, label: i32, time: i64) -> Option<&mut Flow<'t>> {
        if self.by_label.len() >= FOLLOWED && !self.by_label.contains_key(&label) {
            self.left_out += 1;
            return None;
        }
        let flow = self.by_label.entry(label).or_insert_with(|| Flow::new(label, time));
        flow.first = flow.first.min(time);
        flow.last = flow.last.max(time);
        Some(flow)
    }
}

impl<'t> Flow<'t> {
    fn new(label: i32, time: i64) -> Flow<'t> {
        Flow { label, first: time, last: time, ..Flow::default() }
    }

    fn send(&mut self, message: Message<'t>, from: Option<usize>, time: i64) {
        self.messages += 1;
        if self.on_their_way.len() < STEPS {
            self.on_their_way.insert(message, (from, time));
        }
    }

    /// The position of a process in the list. Processes beyond its end share the last position.
    fn process(&mut self, process: Process<'t>) -> usize {
        self.processes.iter().position(|known| *known == process).unwrap_or_else(|| {
            if self.processes.len() < STEPS {
                self.processes.push(process);
            }
            self.processes.len() - 1
        })
    }

    fn step(&mut self, step: Step<'t>) {
        if self.steps.len() < STEPS {
            self.steps.push(step);
        }
    }
}
