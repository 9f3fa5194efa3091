//! The listing of one sequential trace: in the order of time, indented by causal depth.

use std::collections::HashMap;

use dyntrace_reader::{Event, OperationStep};
use dyntrace_terminal::escape;

use super::event;
use super::text::Text;
use super::token::OPERATION;
use crate::render::Printer;
use crate::render::operation::{self, Id, Process, process, step};
use crate::token::{Serial, Token};

/// The deepest indentation: a deeper one would not fit on a screen.
const STEPS: usize = 12;

/// The receiver of a message, if it is known here, and the message's serial.
type Message = (Option<Process>, Serial);

/// The lines of a trace's events. The depth of an event is the number of messages that led to it.
pub struct Causal {
    text: Text,
    /// The depth of each process.
    steps: HashMap<Process, usize>,
    /// The depth of the process that received the message with this count, by pid.
    received: HashMap<(u64, i32), usize>,
    /// The depth of messages that were not received yet.
    messages: HashMap<Message, usize>,
    /// The processes that asked for the operations in flight.
    operations: HashMap<Id, Process>,
}

impl Printer for Causal {
    fn forget_classes(&mut self) {
        self.text.forget_classes();
    }

    fn event(&mut self, event: &Event<'_>, out: &mut Vec<u8>) {
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
}

impl Causal {
    /// Indents the lines of `text`.
    pub fn new(text: Text) -> Causal {
        let (steps, received) = (HashMap::new(), HashMap::new());
        Causal { text, steps, received, messages: HashMap::new(), operations: HashMap::new() }
    }

    /// The depth of the event, and its process where the line does not name it.
    fn place(&mut self, event: &Event<'_>) -> (usize, Option<Process>) {
        if let Some((step, id)) = step(event) {
            let process = match step {
                OperationStep::Return => self.operations.remove(&id),
                _ => self.operations.get(&id).cloned(),
            };
            return (process.as_ref().map_or(0, |process| self.steps_of(process, (0, 0))), process);
        }
        let serial = serial(event);
        let steps = match event.class.probe() {
            probe @ ("message-send" | "message-send-remote") => {
                let steps = self.steps_of(&process(event, "sender"), serial);
                let receiver = (probe == "message-send").then(|| process(event, "receiver"));
                self.messages.insert((receiver, serial), steps + 1);
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

    /// The depth of a process at this serial. A process that has received nothing was spawned with its token by the receiver of the
    /// previous message, and is one step deeper.
    fn steps_of(&mut self, process: &Process, (previous, _): Serial) -> usize {
        if let Some(steps) = self.steps.get(process) {
            return *steps;
        }
        let steps = self.received.get(&(process.0, previous)).map_or(0, |steps| steps + 1);
        self.steps.insert(process.clone(), steps);
        steps
    }

    /// The depth of a process that gets this message. If it comes from a node that was not recorded, it follows the message that
    /// was sent there before.
    fn led_to(&self, receiver: Process, serial: Serial) -> Option<usize> {
        let recorded = [Some(receiver), None].into_iter().find_map(|to| self.messages.get(&(to, serial)).copied());
        let answered = || {
            let to_others = self.messages.iter().filter(|((to, sent), _)| to.is_none() && sent.1 == serial.0);
            to_others.map(|(_, steps)| steps + 1).max()
        };
        recorded.or_else(answered)
    }
}

/// The serial of the event's token, or zeros.
fn serial(event: &Event<'_>) -> Serial {
    Token::of(event).map_or((0, 0), |token| token.serial)
}
