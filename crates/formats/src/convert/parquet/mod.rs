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

use operations::Row;

/// Writes the tables to the folder `output`, which it creates if necessary.
pub fn convert(trace: &Trace, output: &Path) -> anyhow::Result<()> {
    let mode = recording::mode(trace);
    private::create_folder(output, mode)?;
    let new = |name| private::replace(&output.join(name), mode);
    let mut events = events::Events::create(new("events.parquet")?, trace)?;
    let mut operations = file::create(new("operations.parquet")?, operations::columns())?;
    let mut tasks = file::create(new("tasks.parquet")?, tasks::columns())?;
    let mut joined = dyntrace_reader::FileOperations::default();
    let mut lives = recorded_tasks::Tasks::default();
    for event in recording::events(trace) {
        events.add(&event)?;
        if let Some(operation) = joined.push(&event) {
            operations.row(Row::of(&operation).cells())?;
        }
        if let Some(TaskStep::Ended(task)) = lives.push(&event) {
            tasks.row(tasks::cells(&task))?;
        }
    }
    for operation in joined.in_flight() {
        operations.row(Row::of(operation).cells())?;
    }
    for task in lives.alive() {
        tasks.row(tasks::cells(task))?;
    }
    if lives.left_out > 0 {
        say!("dyntrace: {} tasks are beyond the limit and have no rows in tasks.parquet", lives.left_out);
    }
    for table in [events.table, tasks, operations] {
        table.finish()?.finish()?;
    }
    Ok(())
}
