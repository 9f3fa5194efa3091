//! The listing of one sequential trace: in the order of time, and each line as far to the right as messages led to it.

use std::collections::HashMap;

use dyntrace_trace::Event;

use crate::escape;
use crate::render::operation::{self, Id, Step, step, text};
use crate::token::{Serial, Token};

use super::format;
use super::text::Text;
use super::token::OPERATION;

/// How far to the right lines go at most, in steps: more would not fit on a screen.
const STEPS: usize = 12;

/// A process of a program, by the number of the program's.
type Process = (u64, Vec<u8>);

/// Whom a message is for, if that is known here, and its serial.
type Message = (Option<Process>, Serial);

/// The lines of a trace's events.
pub struct Causal {
    text: Text,
    /// How many messages led to what a process does now.
    steps: HashMap<Process, usize>,
    /// The same of messages that were not received yet.
    messages: HashMap<Message, usize>,
    /// Who asked for the operations in flight.
    operations: HashMap<Id, Process>,
}

impl Causal {
    /// Lines as `text` makes them.
    pub fn new(text: Text) -> Causal {
        Causal { text, steps: HashMap::new(), messages: HashMap::new(), operations: HashMap::new() }
    }

    /// Forgets the classes: those of the next events are of a trace that was opened anew.
    pub fn forget_classes(&mut self) {
        self.text.forget_classes();
    }

    /// Appends the line of an event.
    pub fn event(&mut self, event: &Event<'_>, out: &mut Vec<u8>) {
        if event.class.name == OPERATION {
            self.operations.insert(operation::id(event), process(event, "proc"));
            return;
        }
        if !format::is_own(event.class) {
            let (steps, process) = self.place(event);
            out.extend((0..steps.min(STEPS)).flat_map(|_| *b"  "));
            if let Some((_, process)) = process {
                out.extend_from_slice(escape::name(process).as_bytes());
                out.push(b' ');
            }
        }
        self.text.event(event, out);
    }

    /// How many messages led to the event, and whose it is where its line does not say that.
    fn place(&mut self, event: &Event<'_>) -> (usize, Option<Process>) {
        if let Some((step, id)) = step(event) {
            let process = match step {
                Step::Return => self.operations.remove(&id),
                _ => self.operations.get(&id).cloned(),
            };
            return (process.as_ref().map_or(0, |process| self.steps_of(process)), process);
        }
        let serial = Token::of(event).map_or((0, 0), |token| token.serial);
        let steps = match event.class.probe() {
            "message-send" => {
                let steps = self.steps_of(&process(event, "sender"));
                self.messages.insert((Some(process(event, "receiver")), serial), steps + 1);
                steps
            }
            "message-send-remote" => {
                let steps = self.steps_of(&process(event, "sender"));
                self.messages.insert((None, serial), steps + 1);
                steps
            }
            "message-queued" => self.led_to(process(event, "receiver"), serial).unwrap_or(1) - 1,
            "message-receive" => {
                let receiver = process(event, "receiver");
                let steps = self.led_to(receiver.clone(), serial).unwrap_or(0);
                self.messages.remove(&(Some(receiver.clone()), serial));
                self.steps.insert(receiver, steps);
                steps
            }
            _ => self.steps_of(&process(event, "proc")),
        };
        (steps, None)
    }

    fn steps_of(&self, process: &Process) -> usize {
        self.steps.get(process).copied().unwrap_or(0)
    }

    /// How many messages led to a process with this one, which may be of another node.
    fn led_to(&self, receiver: Process, serial: Serial) -> Option<usize> {
        [Some(receiver), None].into_iter().find_map(|to| self.messages.get(&(to, serial)).copied())
    }
}

fn process(event: &Event<'_>, field: &str) -> Process {
    (event.process.pid, text(event, field).to_vec())
}
