//! Traces as tables: `events.parquet` and `operations.parquet`.

mod events;
mod operations;
mod table;

use std::fs;
use std::path::Path;

use dyntrace_trace::Trace;

use crate::trace;

/// Writes the tables into the folder `output`, which is made if it is not there.
pub fn convert(trace: &Trace, output: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(output)?;
    let mut events = events::Events::create(&output.join("events.parquet"), trace)?;
    let mut operations = operations::Operations::create(&output.join("operations.parquet"))?;
    let mut joined = dyntrace_trace::Operations::default();
    for event in trace::events(trace) {
        events.add(&event)?;
        if let Some(operation) = joined.push(&event) {
            operations.add(&operation)?;
        }
    }
    for operation in joined.in_flight() {
        operations.add(operation)?;
    }
    events.finish()?;
    operations.finish()?;
    Ok(())
}
