//! The events of one sequential trace: its messages, the file operations of processes with its token, and their prints.

use std::collections::HashSet;

use dyntrace_reader::{Event, OperationStep};

use crate::render::operation::{self, Id, number, step, text};
use crate::token::Token;

/// Selects the events of a sequential trace.
pub struct OfToken {
    label: i32,
    /// Operations in flight.
    operations: HashSet<Id>,
}

impl OfToken {
    pub fn new(label: i32) -> OfToken {
        OfToken { label, operations: HashSet::new() }
    }

    /// Whether the event is one of them. It must see every event, in the order of time.
    pub fn takes(&mut self, event: &Event<'_>) -> bool {
        match step(event) {
            Some((OperationStep::Return, id)) => self.operations.remove(&id),
            Some((_, id)) => self.operations.contains(&id),
            None if is_print(event) => number(event, "i1") == i64::from(self.label),
            None => {
                let is_mine = Token::of(event).is_some_and(|token| token.label == self.label);
                if is_mine && event.class.name == OPERATION {
                    self.operations.insert(operation::id(event));
                }
                is_mine
            }
        }
    }
}

/// The probe that says which token an operation is for, before its entry.
pub const OPERATION: &str = "dyntrace:seq_trace-operation";

/// Whether the event is a print to a sequential trace.
fn is_print(event: &Event<'_>) -> bool {
    event.class.name == "dyntrace:user_trace-i4s4" && text(event, "s1") == b"seq_trace"
}
