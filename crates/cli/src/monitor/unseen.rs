//! Tasks of which a monitor sees neither polls nor waits: those that are not in the process's table.

use std::collections::HashSet;

use dyntrace_tasks::census::CensusTask;
use dyntrace_tasks::listing::Name;
use dyntrace_tasks::program::{Options, Program};

use crate::escape;
use crate::tasks::table;

/// How many tasks the table of a process lacks, in words. `None` if it has all: none of the program's tasks is of a type that only tokio
/// spawns, or its runtimes count all tasks into the table. `program`: the process, if it was opened.
pub fn tasks(pid: u32, program: Option<&Program>) -> Option<String> {
    let opened;
    let program = match program {
        Some(program) => program,
        None => match Program::attach(pid, Options::default()) {
            Ok(program) => {
                opened = program;
                &opened
            }
            Err(error) => return Some(format!("tasks that are not in the table: {}", escape::name(error.to_string()))),
        },
    };
    let foreign: Vec<bool> = program.vtables().iter().map(|vtable| !is_own(&vtable.name)).collect();
    let types = foreign.iter().filter(|foreign| **foreign).count();
    if types == 0 {
        return None;
    }
    let table = table::read(pid, false).ok().flatten().map(|found| found.table);
    let in_table: HashSet<u32> = table.iter().flat_map(|table| &table.tasks).map(|seen| seen.task.id).collect();
    let census = program.census(None).ok()?;
    let tasks: Vec<_> = census.tasks.iter().filter(|task| task.owner != 0 && !task.state().complete).collect();
    // The table has the low half of an id. Tasks of dyntrace from before the table have no slot, but their polls are seen.
    let is_outside = |task: &CensusTask| foreign[task.vtable as usize] && !in_table.contains(&(task.id as u32));
    let outside = tasks.iter().filter(|task| is_outside(task)).count();
    let counts = table.is_some_and(|table| {
        let header = &table.header;
        header.runtimes > 0 && header.counted == header.counted_with_slot
    });
    (outside > 0 || !counts).then(|| {
        format!(
            "{outside} of {} tasks are not in the table now, and {types} types of tasks can be spawned without dyntrace: their polls \
             and waits are not seen; spawn them by dyntrace, or build with tokio_unstable and a runtime of dyntrace::runtime",
            tasks.len()
        )
    })
}

/// Whether tasks with a future of this name are in the table, or are jobs of the blocking pool.
fn is_own(name: &Name) -> bool {
    let is = |name: &str| ["OwnProcess<", "BlockingTask<"].iter().any(|own| name.contains(own));
    match name {
        Name::Type { name } => is(name),
        Name::Symbol { name } => is(name),
        Name::Candidates { names } => names.iter().all(|name| is(name)),
        Name::Address { .. } => false,
    }
}
