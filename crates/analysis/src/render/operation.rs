//! Operations in recorded events, as the summarizing scripts follow them.

use dyntrace_reader::{Event, Text, Value};

/// Names an operation in flight: process, thread and number.
pub type Id = (u64, i64, i64);

/// A step of an operation, as its probe says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    Entry,
    IntEntry,
    IntReturn,
    Return,
}

/// The step and its operation; `None` for other events.
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

/// The operation that the event names.
pub fn id(event: &Event<'_>) -> Id {
    (event.process.pid, number(event, "thread_id"), number(event, "tag"))
}

/// The number in a field; 0 if there is no such field.
pub fn number(event: &Event<'_>, field: &str) -> i64 {
    match event.field(field) {
        Some(Value::Signed(number)) => number,
        Some(Value::Unsigned(number)) => number.try_into().unwrap_or(i64::MAX),
        _ => 0,
    }
}

/// The text in a field; empty if there is no such field.
pub fn text<'t>(event: &Event<'t>, field: &str) -> Text<'t> {
    match event.field(field) {
        Some(Value::Text(text)) => text,
        _ => Text::default(),
    }
}

/// The same of a field that is never the name of a process or a port: its bytes are in the file.
pub fn plain_text<'t>(event: &Event<'t>, field: &str) -> &'t [u8] {
    text(event, field).in_file().unwrap_or_default()
}
