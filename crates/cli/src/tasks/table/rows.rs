//! A table of many tasks, beside tasks in memory that come one after another, on several threads.

use std::collections::HashSet;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use dyntrace_task_table::{Compact, Seen};
use dyntrace_tasks::listing::Task;

use super::find::Found;
use super::kept::{Counts, Times, process, rest};
use super::notes;

/// A table, and which of its tasks were found in memory.
pub struct Rows {
    found: Found<Compact>,
    /// The first task with each id, by its place; without ids that are those of several tasks in memory.
    by_id: Vec<(u32, u32)>,
    /// Whether a task in memory is this one. Relaxed: the ends of the threads order them.
    taken: Vec<AtomicBool>,
    unsure: AtomicBool,
}

impl Rows {
    /// `ids`: those of all tasks in memory.
    pub fn of(found: Found<Compact>, ids: impl Iterator<Item = u64>) -> Rows {
        // The table has the low half of an id.
        let mut low: Vec<u32> = ids.map(|id| id as u32).collect();
        low.sort_unstable();
        let twice: HashSet<u32> = low.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| pair[0]).collect();
        drop(low);
        let table = &found.table;
        let ids = (0..table.len()).filter_map(|place| Some((table.slot(place)?.id, u32::try_from(place).ok()?)));
        let mut by_id: Vec<(u32, u32)> = ids.filter(|(id, _)| *id != 0 && !twice.contains(id)).collect();
        by_id.sort_unstable();
        // Of futures that one task polls, the first one in the order of pids is the task itself or nearest to it.
        by_id.dedup_by_key(|(id, _)| *id);
        let taken = (0..table.len()).map(|_| AtomicBool::new(false)).collect();
        Rows { found, by_id, taken, unsure: AtomicBool::new(false) }
    }

    pub fn times(&self) -> Times {
        Times { clock: self.found.table.table.clock, now: self.found.now }
    }

    /// The task of the table that a task in memory is. `last`: the one before, of this thread.
    pub fn of_task<'s>(&self, task: &Task, last: &'s mut Option<Seen>) -> Option<&'s Seen> {
        // Memory with debug information has the pid.
        let place = match process(task) {
            Some(pid) => self.found.table.place_of(pid)?,
            None => {
                let place = self.by_id.binary_search_by_key(&(task.id as u32), |(id, _)| *id).ok()?;
                self.by_id[place].1 as usize
            }
        };
        if self.taken[place].swap(true, Relaxed) {
            self.unsure.store(true, Relaxed);
        }
        self.found.table.seen(place, last)
    }

    /// Whether two tasks in memory are the same one of the table: one has its id, and another one, which was asked later, its pid.
    pub fn are_unsure(&self) -> bool {
        self.unsure.load(Relaxed)
    }

    /// Calls `take` with each task that is in the table only, and returns how many tasks are where. `without`: tasks and jobs in memory that
    /// are not in the table.
    pub fn others(&self, mut without: [usize; 2], mut take: impl FnMut(&Seen)) -> Counts {
        let table = &self.found.table;
        let left = (0..).zip(&self.taken).filter(|(_, taken)| !taken.load(Relaxed)).map(|(place, _)| place);
        let (others, unpolled) = rest(left, |place| table.slot(place as usize), &mut without);
        let mut last = None;
        for place in &others {
            table.seen(*place as usize, &mut last).into_iter().for_each(&mut take);
        }
        Counts {
            path: self.found.path.clone(),
            tasks: table.len(),
            is_joined: self.taken.iter().any(|taken| taken.load(Relaxed)),
            others: others.len(),
            without,
            unpolled,
        }
    }

    /// The gaps of the table.
    pub fn notes(&self, counts: &Counts) -> Vec<String> {
        notes(&self.found.table.table).into_iter().chain(counts.note()).collect()
    }
}
