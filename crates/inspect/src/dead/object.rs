//! The table as a JSON object. Its tasks are made one after another: a table may have a million.

use dyntrace_task_table::Table;
use serde::{Serialize, Serializer};

use crate::look::VERSION;
use crate::table::row::realtime;
use crate::table::{Task, notes};

#[derive(Serialize)]
pub struct Listed<'t> {
    version: u32,
    process: u32,
    #[serde(serialize_with = "tasks")]
    tasks: &'t Table,
    without_slot: u64,
    without_space: u64,
    unsettled: u64,
    damaged_texts: u64,
    cut: u64,
    runtimes: u64,
    counted: u64,
    counted_with_slot: u64,
    counted_ns: Option<i64>,
    notes: Vec<String>,
}

impl<'t> Listed<'t> {
    pub fn of(table: &'t Table) -> Listed<'t> {
        let header = &table.header;
        Listed {
            version: VERSION,
            process: header.process,
            tasks: table,
            without_slot: header.without_slot,
            without_space: header.without_space,
            unsettled: table.unsettled,
            damaged_texts: table.damaged_texts,
            cut: table.cut,
            runtimes: header.runtimes,
            counted: header.counted,
            counted_with_slot: header.counted_with_slot,
            counted_ns: (header.runtimes > 0).then(|| realtime(table.clock, header.counted_at)).flatten(),
            notes: notes(table),
        }
    }
}

fn tasks<S: Serializer>(table: &&Table, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(table.tasks.iter().map(|seen| Task::of(seen, table.clock)))
}
