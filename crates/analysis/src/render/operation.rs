//! Operations in recorded events, as the summarizing scripts follow them.

use dyntrace_reader::{Event, OperationStep, Text, Value};

/// Names an operation in flight: process, thread and number.
pub type Id = (u64, i64, i64);

/// A process, with the pid of its program.
pub type Process = (u64, Vec<u8>);

/// The step of the file driver and its operation; `None` for other events.
pub fn step(event: &Event<'_>) -> Option<(OperationStep, Id)> {
    let (driver, step) = event.class.operation_step()?;
    (driver == "dyntrace:efile_drv").then(|| (step, id(event)))
}

/// The operation that the event names.
pub fn id(event: &Event<'_>) -> Id {
    (event.process.pid, number(event, "thread_id"), number(event, "tag"))
}

/// The process that a field of the event names.
pub fn process(event: &Event<'_>, field: &str) -> Process {
    (event.process.pid, text(event, field).to_vec())
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
