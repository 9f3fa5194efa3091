//! What the formats ask of an event.

use dyntrace_reader::{Event, EventClass, Process, Value};
use smallvec::SmallVec;

/// The values of an event, in their order.
pub fn values<'t>(event: &Event<'t>) -> SmallVec<[Value<'t>; 16]> {
    event.fields().map(|(_name, value)| value).collect()
}

/// What objects and tables say of every event. A field of such a name has `_` before it.
pub const FIXED: [&str; 4] = ["time_ns", "process", "tid", "probe"];

/// What a field is called in objects and tables.
pub fn column(field: &str) -> String {
    let mark = if FIXED.contains(&field) { "_" } else { "" };
    format!("{mark}{field}")
}

/// What a process is called in objects and tables: as its folder, which has its number too.
pub fn process_name(process: &Process) -> &[u8] {
    process.path.file_name().map_or(process.name.as_bytes(), |name| name.as_encoded_bytes())
}

/// Whether these are events of the recorder itself: what threads there are, what was lost.
pub fn is_own(class: &EventClass) -> bool {
    class.provider() == "recorder"
}
