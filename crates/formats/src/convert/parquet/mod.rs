//! Traces as tables: `events.parquet`, `operations.parquet` and `tasks.parquet`.

mod events;
mod file;
pub mod operations;
pub mod tasks;

use std::path::Path;

use dyntrace_analysis::recorded_tasks::{self, TaskStep};
use dyntrace_analysis::recording;
use dyntrace_reader::Trace;
use dyntrace_terminal::{private, say};

/// Writes the tables to the folder `output`, which it creates if necessary.
pub fn convert(trace: &Trace, output: &Path) -> anyhow::Result<()> {
    let mode = recording::mode(trace);
    private::create_folder(output, mode)?;
    let new = |name| private::replace(&output.join(name), mode);
    let mut events = events::Events::create(new("events.parquet")?, trace)?;
    let mut operations = operations::Operations::create(new("operations.parquet")?)?;
    let mut tasks = tasks::Tasks::create(new("tasks.parquet")?)?;
    let mut joined = dyntrace_reader::FileOperations::default();
    let mut lives = recorded_tasks::Tasks::default();
    for event in recording::events(trace) {
        events.add(&event)?;
        if let Some(operation) = joined.push(&event) {
            operations.add(&operation)?;
        }
        if let Some(TaskStep::Ended(task)) = lives.push(&event) {
            tasks.add(&task)?;
        }
    }
    for operation in joined.in_flight() {
        operations.add(operation)?;
    }
    for task in lives.alive() {
        tasks.add(task)?;
    }
    if lives.left_out > 0 {
        say!("dyntrace: {} tasks are beyond the limit and have no rows in tasks.parquet", lives.left_out);
    }
    for table in [events.table, tasks.0, operations.0] {
        table.finish()?.finish()?;
    }
    Ok(())
}
