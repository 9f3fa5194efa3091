//! Traces as tables: `events.parquet` and `operations.parquet`.

mod events;
mod operations;
mod table;

use std::path::Path;

use dyntrace_reader::Trace;

use crate::{private, trace};

/// Writes the tables into the folder `output`, which is made if it is not there.
pub fn convert(trace: &Trace, output: &Path) -> anyhow::Result<()> {
    let mode = private::mode(trace);
    private::create_folder(output, mode)?;
    let create = |name| private::create(&output.join(name), mode);
    let mut events = events::Events::create(create("events.parquet")?, trace)?;
    let mut operations = operations::Operations::create(create("operations.parquet")?)?;
    let mut joined = dyntrace_reader::Operations::default();
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
