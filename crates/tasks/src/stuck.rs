//! Tasks that will not go on by themselves: deadlocks and futurelocks, by memory and by the program's own table of its processes.

use std::collections::{HashMap, HashSet};

use serde::{Serialize, Serializer};

use crate::cycles::{Edge, cycles};
use crate::listing::{Listing, Task};
use crate::locks::{Cycle, Futurelock, Locks, futurelocks_in_both, in_both};

/// The processes of a program, as its own table tells them. A process is named by the number in its pid.
pub trait Processes {
    /// The process that a task in memory is.
    fn of_task(&self, task: &Task) -> Option<u64>;

    /// The address of the task in memory that a process is.
    fn task_of(&self, process: u64) -> Option<u64>;

    /// The process for which an idle process waits, if it waits for one. `None` if the table does not have the process.
    fn awaited(&self, process: u64) -> Option<Option<u64>>;

    /// The idle processes that wait for other ones, in the order of their numbers.
    fn waiting(&self) -> Vec<Waiting>;
}

/// A process that waits for another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Waiting {
    /// Its number.
    pub process: u64,
    /// The number of the other one.
    pub awaits: u64,
    /// When its wait began, by the table's clock.
    pub since: u64,
}

/// Processes of which each waits for the next one, and the last for the first, by the table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TableCycle {
    /// The lowest pid is first.
    #[serde(rename = "pids", serialize_with = "pids")]
    pub steps: Vec<Waiting>,
    /// Whether one of them may also wait for something else: the table has the last wait of each only.
    pub may_end: bool,
}

#[allow(clippy::ptr_arg)] // serde's signature
fn pids<S: Serializer>(steps: &Vec<Waiting>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(steps.iter().map(|step| format!("<0.{}.0>", step.process)))
}

/// Tasks that will not go on by themselves. Show them to a user only if two looks found them.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Stuck {
    /// By memory.
    pub deadlocks: Vec<Cycle>,
    /// By memory.
    pub futurelocks: Vec<Futurelock>,
    /// Deadlocks that only the table tells.
    pub table_deadlocks: Vec<TableCycle>,
}

impl Stuck {
    /// Those of one look at memory whose tasks all stand still. The chain of a running task is that of its previous suspension.
    #[must_use]
    pub fn of(listing: &Listing) -> Stuck {
        let locks = Locks::of(listing);
        let (mut deadlocks, mut futurelocks) = (locks.cycles(), locks.futurelocks());
        if !(deadlocks.is_empty() && futurelocks.is_empty()) {
            let by_address = listing.by_address();
            let stands = |task: u64| by_address.get(&task).is_some_and(|task| task.stands());
            deadlocks.retain(|cycle| cycle.steps.iter().all(|step| stands(step.address)));
            futurelocks.retain(|lock| stands(lock.address));
        }
        Stuck { deadlocks, futurelocks, table_deadlocks: Vec::new() }
    }

    /// The same, and those of the table.
    #[must_use]
    pub fn of_both(listing: &Listing, table: &dyn Processes) -> Stuck {
        let mut stuck = Stuck { table_deadlocks: table_cycles(&table.waiting()), ..Stuck::of(listing) };
        let (told, processes) = (stuck.tasks(), stuck.processes());
        let in_memory = listing.tasks.iter().filter_map(|task| Some((table.of_task(task)?, task)));
        let in_memory: HashMap<u64, &Task> = in_memory.filter(|(process, _)| processes.contains(process)).collect();
        stuck.table_deadlocks.retain_mut(|cycle| {
            let tasks: Vec<Option<&&Task>> = cycle.steps.iter().map(|step| in_memory.get(&step.process)).collect();
            cycle.may_end = !tasks.iter().all(|task| task.is_some_and(|task| task.leaves().len() == 1));
            !tasks.iter().all(|task| task.is_some_and(|task| told.contains(&task.address)))
        });
        stuck
    }

    /// The addresses of the tasks in deadlocks by memory.
    #[must_use]
    pub fn tasks(&self) -> HashSet<u64> {
        self.deadlocks.iter().flat_map(|cycle| &cycle.steps).map(|step| step.address).collect()
    }

    /// The processes in deadlocks of the table.
    #[must_use]
    pub fn processes(&self) -> HashSet<u64> {
        self.table_deadlocks.iter().flat_map(|cycle| &cycle.steps).map(|step| step.process).collect()
    }

    /// Those that an earlier look has, too.
    #[must_use]
    pub fn also_in(self, before: &Stuck) -> Stuck {
        // The same tasks wait since the same times.
        let has = |cycle: &TableCycle| before.table_deadlocks.iter().any(|known| known.steps == cycle.steps);
        Stuck {
            deadlocks: in_both(&before.deadlocks, self.deadlocks),
            futurelocks: futurelocks_in_both(&before.futurelocks, self.futurelocks),
            table_deadlocks: self.table_deadlocks.into_iter().filter(has).collect(),
        }
    }

    /// Those that an earlier look does not have.
    #[must_use]
    pub fn without(&self, known: &Stuck) -> Stuck {
        fn rest<T: Clone + PartialEq>(all: &[T], both: &[T]) -> Vec<T> {
            all.iter().filter(|one| !both.contains(one)).cloned().collect()
        }
        let both = self.clone().also_in(known);
        Stuck {
            deadlocks: rest(&self.deadlocks, &both.deadlocks),
            futurelocks: rest(&self.futurelocks, &both.futurelocks),
            table_deadlocks: rest(&self.table_deadlocks, &both.table_deadlocks),
        }
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.deadlocks.is_empty() && self.futurelocks.is_empty() && self.table_deadlocks.is_empty()
    }
}

/// The cycles of the table. Each may end, as far as the table tells.
fn table_cycles(waiting: &[Waiting]) -> Vec<TableCycle> {
    let place = |process: u64| waiting.binary_search_by_key(&process, |waiting| waiting.process).ok();
    let edges: Vec<Edge> = (0..).zip(waiting).filter_map(|(own, waits)| Some((own, place(waits.awaits)?))).collect();
    let of = |cycle: Vec<usize>| cycle.into_iter().map(|place| waiting[place]).collect();
    let found = cycles(edges, waiting.len()).into_iter();
    found.map(|cycle| TableCycle { steps: of(cycle), may_end: true }).collect()
}
