//! Properties of events that several formats need.

use dyntrace_reader::{Event, EventClass, Process, Value};
use smallvec::SmallVec;

pub fn values<'t>(event: &Event<'t>) -> SmallVec<[Value<'t>; 16]> {
    event.fields().map(|(_name, value)| value).collect()
}

/// The names that every event has in objects and tables. A field of such a name gets a `_` before it.
pub const FIXED: [&str; 4] = ["time_ns", "process", "tid", "probe"];

/// The name of a field in objects and tables.
pub fn column(field: &str) -> String {
    let mark = if FIXED.contains(&field) { "_" } else { "" };
    format!("{mark}{field}")
}

/// The name of a process in objects and tables: that of its folder, which includes the pid.
pub fn process_name(process: &Process) -> &[u8] {
    process.path.file_name().map_or(process.name.as_bytes(), |name| name.as_encoded_bytes())
}

/// Whether these are events of the recorder itself, about threads and losses.
pub fn is_own(class: &EventClass) -> bool {
    class.provider() == "recorder"
}
