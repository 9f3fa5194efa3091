//! Operations in recorded events, as the scripts that answer questions follow them.

use dyntrace_reader::{Event, Value};

/// What names an operation while it is in flight: process, thread and number.
pub type Id = (u64, i64, i64);

/// What happens to an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The driver accepted it.
    Entry,
    /// Its work began.
    IntEntry,
    /// Its work has ended.
    IntReturn,
    /// It was answered.
    Return,
}

/// What this event says of which operation; `None` if it is about something else.
pub fn step(event: &Event<'_>) -> Option<(Step, Id)> {
    let step = match event.class.name.strip_prefix("dyntrace:efile_drv-")? {
        "entry" => Step::Entry,
        "int_entry" => Step::IntEntry,
        "int_return" => Step::IntReturn,
        "return" => Step::Return,
        _ => return None,
    };
    Some((step, id(event)))
}

/// The operation that an event is about, of those that say it.
pub fn id(event: &Event<'_>) -> Id {
    (event.process.pid, number(event, "thread_id"), number(event, "tag"))
}

/// The signed number in a field; 0 if there is no such field.
pub fn number(event: &Event<'_>, field: &str) -> i64 {
    match event.field(field) {
        Some(Value::Signed(number)) => number,
        _ => 0,
    }
}

/// The text in a field; empty if there is no such field.
pub fn text<'t>(event: &Event<'t>, field: &str) -> &'t [u8] {
    match event.field(field) {
        Some(Value::Text(text)) => text,
        _ => b"",
    }
}
