//! Traces as tables: `events.parquet` and `operations.parquet`.

mod events;
mod operations;
mod table;

use std::path::Path;

use dyntrace_reader::Trace;

use crate::{private, recording};

/// Writes the tables to the folder `output`, which it creates if necessary.
pub fn convert(trace: &Trace, output: &Path) -> anyhow::Result<()> {
    let mode = private::mode(trace);
    private::create_folder(output, mode)?;
    let create = |name| private::create(&output.join(name), mode);
    let mut events = events::Events::create(create("events.parquet")?, trace)?;
    let mut operations = operations::Operations::create(create("operations.parquet")?)?;
    let mut joined = dyntrace_reader::FileOperations::default();
    for event in recording::events(trace) {
        events.add(&event)?;
        if let Some(operation) = joined.push(&event) {
            operations.add(&operation)?;
        }
    }
    for operation in joined.in_flight() {
        operations.add(operation)?;
    }
    events.table.finish()?;
    Ok(operations.0.finish()?)
}
