//! Tables of tasks, which programs with `DYNTRACE=tasks` keep: of ended programs, and of running ones beside their memory.

mod find;
mod joined;
mod object;
mod processes;
pub mod row;
mod rows;
mod summary;
mod task_group;

use dyntrace_task_table::Table;

pub use find::{ReadTable, mappings, read, read_compact, read_file};
pub use joined::{Counts, JoinedTable, Times};
pub use object::Task;
pub use processes::{awaited, operation, waits};
pub use rows::Rows;
pub use summary::Summary;
pub use task_group::TaskGroup;

/// The gaps of the table.
pub fn notes(table: &Table) -> Vec<String> {
    let header = &table.header;
    let told = |count: u64, is: &str| (count > 0).then(|| format!("{count} {is}"));
    let full = format!("tasks are missing: they found no slot in the table, which has {} at most", header.limit);
    let no_clock = "the program was killed while it wrote its clock: there are no times";
    [
        told(header.without_slot, &full),
        told(header.without_space, "texts are missing: functions, places, tags or names found no space"),
        told(table.unsettled, "slots are left out: they were changing, or the program was killed while they changed"),
        told(
            table.blurred,
            "tasks were polled whenever they were read: their polls and times may be of different instants",
        ),
        told(table.damaged_texts, "texts are damaged"),
        told(table.cut, "slots are missing: the file is cut"),
        table.clock.is_none().then(|| no_clock.to_owned()),
    ]
    .into_iter()
    .flatten()
    .collect()
}
