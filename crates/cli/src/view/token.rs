//! What belongs to one sequential trace: its messages, the file operations that processes with its token ask for, and what they say.

use std::collections::HashSet;

use dyntrace_trace::Event;

use crate::render::operation::{Id, Step, number, step, text};

/// The events of a sequential trace, found as they come.
pub struct OfToken {
    label: i64,
    /// Operations in flight.
    operations: HashSet<Id>,
}

impl OfToken {
    /// Those with this label.
    pub fn new(label: i32) -> OfToken {
        OfToken { label: label.into(), operations: HashSet::new() }
    }

    /// Whether the event is one of them. To be asked of every event, in the order of time.
    pub fn takes(&mut self, event: &Event<'_>) -> bool {
        match step(event) {
            Some((Step::Return, id)) => self.operations.remove(&id),
            Some((_, id)) => self.operations.contains(&id),
            None if is_print(event) => number(event, "i1") == self.label,
            None => {
                let is_mine = label(event) == Some(self.label);
                if is_mine && event.class.name == OPERATION {
                    self.operations.insert(operation(event));
                }
                is_mine
            }
        }
    }
}

/// The probe that says which token an operation is for, before its entry.
pub const OPERATION: &str = "dyntrace:seq_trace-operation";

/// The label of the token that the event tells of, if it does.
fn label(event: &Event<'_>) -> Option<i64> {
    event.class.name.strip_prefix("dyntrace:")?;
    event.class.position("token_label")?;
    let token = ["token_label", "token_previous", "token_current"].map(|field| number(event, field));
    (token != [0, 0, 0]).then_some(token[0])
}

/// The operation that such an event is about.
pub fn operation(event: &Event<'_>) -> Id {
    (event.process.pid, number(event, "thread_id"), number(event, "tag"))
}

/// Whether it is what a process said to its sequential trace.
pub fn is_print(event: &Event<'_>) -> bool {
    event.class.name == "dyntrace:user_trace-i4s4" && text(event, "s1") == b"seq_trace"
}
