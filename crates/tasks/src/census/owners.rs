//! The runtimes that own cells, and the list of each.

use std::collections::BTreeMap;

use super::links;
use super::look::Cell;
use crate::memory::Memory;
use crate::owned::{Budget, OwnedTasks};

/// Owners whose lists are searched, at most. Each `LocalSet` is one, and a search takes 32 system calls.
pub const MOST: usize = 1 << 16;

/// Names a runtime, as a task does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Owner {
    pub number: u64,
    pub scheduler: u64,
}

impl Owner {
    /// `None` for jobs.
    pub fn of(cell: &Cell) -> Option<Owner> {
        (cell.owner != 0).then_some(Owner { number: cell.owner, scheduler: cell.scheduler })
    }
}

/// Facts about a runtime.
#[derive(Debug, Default)]
pub struct RuntimeFacts {
    pub list: Option<OwnedTasks>,
    /// Its tasks that are in its list.
    pub found: u64,
    /// The id of one of its tasks.
    pub any: u64,
}

/// Finds the list of each runtime that owns one of `cells`. Freed cells can name owners that never were, each its own:
/// of more than `most`, those with most cells are asked. Returns also the number of cells of the others.
pub fn owners(memory: &dyn Memory, cells: &[Cell], most: usize) -> (BTreeMap<Owner, RuntimeFacts>, usize) {
    let mut counts: BTreeMap<Owner, usize> = BTreeMap::new();
    for owner in cells.iter().filter_map(Owner::of) {
        *counts.entry(owner).or_default() += 1;
    }
    let mut counts: Vec<(Owner, usize)> = counts.into_iter().collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let is_task = |address| links::among(cells, address).is_some();
    let budget = Budget::default();
    let mut left_out = 0;
    let known = counts.into_iter().enumerate().map(|(place, (owner, count))| {
        let list = if place < most && !budget.is_spent() {
            OwnedTasks::find(memory, owner.scheduler, owner.number, is_task, &budget)
        } else {
            left_out += count;
            None
        };
        (owner, RuntimeFacts { list, ..RuntimeFacts::default() })
    });
    (known.collect(), left_out)
}

/// Says that tasks are missing whose owners were not searched.
pub fn of_left_out(tasks: usize) -> String {
    format!("Tasks name more runtimes and LocalSets than are searched: up to {tasks} tasks of the others are missing.")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::Unreadable;

    /// A `LocalSet` in each page: the first and the last task, whether it is closed, and its number.
    struct Sets;

    impl Memory for Sets {
        fn read(&self, address: u64, bytes: &mut [u8]) -> Result<(), Unreadable> {
            let word = |at: u64| match at % 4096 {
                0x100 | 0x108 => task(at / 4096),
                0x118 => at / 4096,
                _ => 0,
            };
            let all: Vec<u8> =
                (address..).step_by(8).take(bytes.len() / 8).flat_map(|at| word(at).to_le_bytes()).collect();
            bytes.copy_from_slice(&all);
            Ok(())
        }
    }

    fn task(owner: u64) -> u64 {
        owner << 20
    }

    fn cell(owner: u64) -> Cell {
        let (address, scheduler) = (task(owner), owner * 4096);
        Cell { address, vtable: 0, state: 64, owner, scheduler, id: owner, previous: 0, next: 0, spawned_at: 0 }
    }

    #[test]
    fn the_tasks_of_each_of_many_local_sets_are_found() {
        let cells: Vec<Cell> = (1..=3000).map(cell).collect();
        let (found, left_out) = owners(&Sets, &cells, MOST);
        assert_eq!((found.len(), left_out), (3000, 0));
        assert!(found.values().all(|known| known.list.is_some()));
    }

    #[test]
    fn tasks_of_owners_that_are_not_searched_are_counted() {
        let mut cells: Vec<Cell> = (1..=5).map(cell).collect();
        cells.extend([Cell { address: task(6), ..cell(2) }, Cell { address: task(7), ..cell(5) }]);
        let (found, left_out) = owners(&Sets, &cells, 2);
        let searched: Vec<u64> =
            found.iter().filter(|(_, known)| known.list.is_some()).map(|(owner, _)| owner.number).collect();
        assert_eq!((&searched[..], left_out), (&[2, 5][..], 3));
        assert!(of_left_out(left_out).contains("up to 3 tasks"));
    }
}
