//! The listing of one sequential trace: in the order of time, and each line as far to the right as messages led to it.

use std::collections::HashMap;

use dyntrace_reader::Event;

use crate::escape;
use crate::render::operation::{self, Id, Step, step, text};
use crate::token::{Serial, Token};

use super::event;
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
    /// The same of who received the message with this count, by its program.
    received: HashMap<(u64, i32), usize>,
    /// The same of messages that were not received yet.
    messages: HashMap<Message, usize>,
    /// Who asked for the operations in flight.
    operations: HashMap<Id, Process>,
}

impl Causal {
    /// Lines as `text` makes them.
    pub fn new(text: Text) -> Causal {
        Causal {
            text,
            steps: HashMap::new(),
            received: HashMap::new(),
            messages: HashMap::new(),
            operations: HashMap::new(),
        }
    }

    /// Forgets the classes: those of the next events are of a trace that was opened anew.
    pub fn forget_classes(&mut self) {
        self.text.forget_classes();
    }

    /// Appends the line of an event.
    pub fn event(&mut self, event: &Event<'_>, out: &mut Vec<u8>) {
        if event.class.name == OPERATION {
            let process = process(event, "proc");
            self.steps_of(&process, serial(event));
            self.operations.insert(operation::id(event), process);
            return;
        }
        if !event::is_own(event.class) {
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
            return (process.as_ref().map_or(0, |process| self.steps_of(process, (0, 0))), process);
        }
        let serial = serial(event);
        let steps = match event.class.probe() {
            "message-send" => {
                let steps = self.steps_of(&process(event, "sender"), serial);
                self.messages.insert((Some(process(event, "receiver")), serial), steps + 1);
                steps
            }
            "message-send-remote" => {
                let steps = self.steps_of(&process(event, "sender"), serial);
                self.messages.insert((None, serial), steps + 1);
                steps
            }
            "message-queued" => self.led_to(process(event, "receiver"), serial).unwrap_or(1) - 1,
            "message-receive" => {
                let receiver = process(event, "receiver");
                let steps = self.led_to(receiver.clone(), serial).unwrap_or(1);
                self.messages.remove(&(Some(receiver.clone()), serial));
                self.received.insert((receiver.0, serial.1), steps);
                self.steps.insert(receiver, steps);
                steps
            }
            _ => self.steps_of(&process(event, "proc"), serial),
        };
        (steps, None)
    }

    /// How many messages led to what a process does at this serial. One that has received none was spawned with its token, by who
    /// had received the message before: that counts as a message.
    fn steps_of(&mut self, process: &Process, (previous, _): Serial) -> usize {
        if let Some(steps) = self.steps.get(process) {
            return *steps;
        }
        let steps = self.received.get(&(process.0, previous)).map_or(0, |steps| steps + 1);
        self.steps.insert(process.clone(), steps);
        steps
    }

    /// How many messages led to a process with this one, which may be of another node. If nobody recorded that node, what it was
    /// sent before led to it.
    fn led_to(&self, receiver: Process, serial: Serial) -> Option<usize> {
        let recorded = [Some(receiver), None].into_iter().find_map(|to| self.messages.get(&(to, serial)).copied());
        let answered = || {
            let to_others = self.messages.iter().filter(|((to, sent), _)| to.is_none() && sent.1 == serial.0);
            to_others.map(|(_, steps)| steps + 1).max()
        };
        recorded.or_else(answered)
    }
}

/// Zeros where there is none.
fn serial(event: &Event<'_>) -> Serial {
    Token::of(event).map_or((0, 0), |token| token.serial)
}

fn process(event: &Event<'_>, field: &str) -> Process {
    (event.process.pid, text(event, field).to_vec())
}
