//! Tasks of which a monitor sees neither polls nor waits: those that are not in the process's table.

use std::collections::HashSet;

use dyntrace::monitor::Kind;
use dyntrace_inspect::table;
use dyntrace_tasks::census::CensusTask;
use dyntrace_tasks::listing::Name;
use dyntrace_tasks::program::{Options, Program};
use dyntrace_terminal::escape;

/// The tasks of a process, as far as a monitor sees them.
pub struct Unseen {
    tasks: usize,
    /// Tasks that dyntrace spawned before the process kept its table: it tells their polls only.
    earlier: usize,
    /// Tasks that were spawned without dyntrace, and are not in the table.
    foreign: usize,
    /// Types of tasks that can be spawned without dyntrace.
    types: usize,
    /// Whether the runtimes count all tasks into the table.
    counts: bool,
}

impl Unseen {
    /// Looks at process `pid`. `program`: the process, if it was opened.
    ///
    /// # Errors
    ///
    /// Its tasks cannot be read, in words.
    pub fn of(pid: u32, program: Option<&Program>) -> Result<Unseen, String> {
        let told =
            |cause: &dyn ToString| format!("tasks that are not in the table: {}", escape::name(cause.to_string()));
        let opened;
        let program = match program {
            Some(program) => program,
            None => {
                opened = Program::attach(pid, Options::default()).map_err(|error| told(&error))?;
                &opened
            }
        };
        let foreign: Vec<bool> = program.vtables().iter().map(|vtable| !is_own(&vtable.name)).collect();
        let table = table::read(pid, false, &table::mappings(pid)).ok().flatten().map(|found| found.table);
        let in_table: HashSet<u32> = table.iter().flat_map(|table| &table.tasks).map(|seen| seen.task.id).collect();
        let census = program.census(None).map_err(|error| told(&error))?;
        if let Some(gap) = census.other_layout.iter().chain(&census.gaps).next() {
            return Err(told(gap));
        }
        let tasks: Vec<_> = census.tasks.iter().filter(|task| task.owner != 0 && !task.state().complete).collect();
        // The table has the low half of an id.
        let is_outside = |task: &CensusTask| !in_table.contains(&(task.id as u32));
        let outside = tasks.iter().filter(|task| is_outside(task));
        let (of_others, earlier): (Vec<bool>, Vec<bool>) =
            outside.map(|task| foreign[task.vtable as usize]).partition(|is_foreign| *is_foreign);
        let counts = table.is_some_and(|table| {
            let header = &table.header;
            header.runtimes > 0 && header.counted == header.counted_with_slot
        });
        let types = foreign.iter().filter(|foreign| **foreign).count();
        Ok(Unseen { tasks: tasks.len(), earlier: earlier.len(), foreign: of_others.len(), types, counts })
    }

    /// The tasks of which events of these kinds tell nothing, in words. `None` if there are none: none of the program's tasks is of a type
    /// that only tokio spawns, or its runtimes count all tasks into the table; and the table has those that dyntrace spawned. `limit`:
    /// that of the number of tasks.
    pub fn told(&self, kinds: &[Kind], limit: Option<u64>) -> Option<String> {
        let &Unseen { tasks, earlier, foreign, types, counts } = self;
        let has = |kind| kinds.contains(&kind);
        let of_earlier = match limit {
            _ if has(Kind::LongWait) => earlier,
            // Whether there are too many tasks is known of so few.
            Some(limit) if has(Kind::TooManyTasks) && tasks as u64 > limit => earlier,
            _ => 0,
        };
        let of_types = has(Kind::LongSchedule) || has(Kind::LongWait);
        let is_foreign = foreign > 0 && (of_types || limit.is_some_and(|limit| tasks as u64 > limit));
        let begun = (of_earlier > 0).then(|| {
            format!(
                "{earlier} of {tasks} tasks were spawned before the process kept its table: they are not counted, and their waits are \
                 not seen; start it with DYNTRACE=tasks,control"
            )
        });
        let spawned = (is_foreign || of_types && types > 0 && !counts).then(|| {
            format!(
                "{foreign} of {tasks} tasks are not in the table now, and {types} types of tasks can be spawned without dyntrace: they \
                 are not counted, and their polls and waits are not seen; spawn them by dyntrace, or build with tokio_unstable and a \
                 runtime of dyntrace::runtime"
            )
        });
        let told: Vec<String> = begun.into_iter().chain(spawned).collect();
        (!told.is_empty()).then(|| told.join("; "))
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_from_before_the_table_matter_to_waits_and_numbers() {
        let told = |unseen: &Unseen, kinds: &[Kind], limit| unseen.told(kinds, limit).unwrap_or_default();
        let earlier = Unseen { tasks: 7, earlier: 3, foreign: 0, types: 0, counts: false };
        let expected = "3 of 7 tasks were spawned before the process kept its table";
        assert!(told(&earlier, &[Kind::LongWait], None).starts_with(expected));
        assert!(told(&earlier, &[Kind::TooManyTasks], Some(6)).starts_with(expected));
        for (kind, limit) in [(Kind::TooManyTasks, Some(7)), (Kind::LongSchedule, None)] {
            assert_eq!(told(&earlier, &[kind], limit), "");
        }
        let foreign = Unseen { tasks: 7, earlier: 0, foreign: 2, types: 1, counts: true };
        for kind in [Kind::LongSchedule, Kind::LongWait] {
            assert!(told(&foreign, &[kind], None).starts_with("2 of 7 tasks are not in the table now"));
        }
        assert_eq!(told(&foreign, &[Kind::TooManyTasks], Some(7)), "");
    }
}
