//! The table of tasks of a running process, beside the tasks that were read from its memory.

use std::collections::HashMap;
use std::num::NonZeroU64;
use std::path::PathBuf;

use dyntrace_task_table::{Clock, State, Table, Task as Slot, TaskEntry, TaskKind};
use dyntrace_tasks::listing::{Chain, Listing, Task};
use dyntrace_terminal::escape;

use super::find::ReadTable;
use super::{notes, row};
use crate::words::counted;

/// The times of a table, from which ages are counted.
#[derive(Debug, Clone, Copy)]
pub struct Times {
    pub clock: Option<Clock>,
    /// When the table was read, in nanoseconds from 1970.
    pub now: i64,
}

impl Times {
    /// Nanoseconds from a cycle to the reading.
    pub fn age(&self, cycle: u64) -> Option<u64> {
        let time = row::realtime(self.clock, cycle)?;
        // The clock may be a little fast.
        Some(u64::try_from(self.now.saturating_sub(time)).unwrap_or(0))
    }
}

/// A table, and which of its tasks are which of those in memory.
#[derive(Debug)]
pub struct JoinedTable {
    pub(super) table: Table,
    times: Times,
    /// The places in the table of the tasks in memory, by the addresses of their headers.
    pub(super) of_tasks: HashMap<u64, u32>,
    /// The places of tasks that are in the table only. A table has 2^20 slots at most.
    others: Vec<u32>,
    pub counts: Counts,
}

impl JoinedTable {
    /// Finds the tasks of a table among those in memory, if memory could be read.
    pub fn of(found: ReadTable, listing: Option<&Listing>) -> JoinedTable {
        let ReadTable { mut table, path, now } = found;
        table.tasks.sort_unstable_by_key(|seen| seen.task.pid);
        let tasks = listing.map_or(&[][..], |listing| &listing.tasks);
        // The table has the low half of an id.
        let mut by_id: HashMap<u32, Option<&Task>> = HashMap::with_capacity(tasks.len());
        for task in tasks {
            by_id.entry(task.id as u32).and_modify(|known| *known = None).or_insert(Some(task));
        }
        // Memory with debug information has the pid, also of a task that has not been polled.
        let by_pid: HashMap<u64, &Task> = tasks.iter().filter_map(|task| Some((process(task)?, task))).collect();
        let (mut of_tasks, mut left) = (HashMap::new(), Vec::new());
        for (place, seen) in (0_u32..).zip(&table.tasks) {
            let by_id = || by_id.get(&seen.task.id).copied().flatten().filter(|_| seen.task.id != 0);
            let task = by_pid.get(&seen.task.pid).copied();
            let task = task.or_else(|| by_id().filter(|task| process(task).is_none()));
            match task {
                // Of futures that one task polls, the first one in the order of pids is the task itself or nearest to it.
                Some(task) if !of_tasks.contains_key(&task.address) => {
                    of_tasks.insert(task.address, place);
                }
                _ => left.push(place),
            }
        }
        let mut without = [0_usize; 2];
        for task in tasks.iter().filter(|task| !task.state.complete && !of_tasks.contains_key(&task.address)) {
            without[usize::from(task.owner == 0)] += 1;
        }
        let slot = |place: u32| Some(table.tasks[place as usize].task);
        let (others, unpolled) = rest(left.into_iter(), slot, &mut without);
        let counts = Counts {
            path,
            tasks: table.tasks.len(),
            is_joined: !of_tasks.is_empty(),
            others: others.len(),
            without,
            unpolled,
        };
        JoinedTable { times: Times { clock: table.clock, now }, table, of_tasks, others, counts }
    }

    /// The task of the table that a task in memory is.
    pub fn of_task(&self, task: &Task) -> Option<&TaskEntry> {
        self.of_tasks.get(&task.address).map(|place| self.at(*place))
    }

    pub(super) fn at(&self, place: u32) -> &TaskEntry {
        &self.table.tasks[place as usize]
    }

    /// The task of the table that has this pid.
    pub fn by_pid(&self, pid: u64) -> Option<&TaskEntry> {
        let place = self.table.tasks.binary_search_by_key(&pid, |seen| seen.task.pid).ok()?;
        self.table.tasks.get(place)
    }

    /// The tasks that are in the table only.
    pub fn others(&self) -> impl Iterator<Item = &TaskEntry> {
        self.others.iter().map(|place| self.at(*place))
    }

    /// Drops the tasks in the table only that are not chosen.
    pub fn keep(&mut self, is_chosen: impl Fn(&TaskEntry) -> bool) {
        self.others.retain(|place| is_chosen(&self.table.tasks[*place as usize]));
        self.counts.others = self.others.len();
    }

    pub fn times(&self) -> Times {
        self.times
    }

    /// The gaps of the table.
    pub fn notes(&self) -> Vec<String> {
        notes(&self.table).into_iter().chain(self.counts.note()).collect()
    }
}

/// How many tasks are where.
#[derive(Debug)]
pub struct Counts {
    pub path: PathBuf,
    /// In the table.
    pub tasks: usize,
    /// Whether one of them is in memory, too.
    pub is_joined: bool,
    pub others: usize,
    /// Tasks and jobs of tasks in memory that are not in the table.
    pub without: [usize; 2],
    /// Tasks and jobs that have not been polled. They are among the others only if memory does not have as many that it could be.
    pub unpolled: usize,
}

impl Counts {
    pub fn text(&self) -> String {
        let tasks = counted(self.tasks, "task");
        let mut text = format!("* from the program's table {}, which has {tasks}", escape::path(&self.path));
        if self.is_joined && self.others > 0 {
            text += &format!(", {} of them only there", self.others);
        }
        text.push('\n');
        let without: Vec<String> = self
            .without
            .iter()
            .zip(["task", "job"])
            .filter(|(number, _)| **number > 0)
            .map(|(number, noun)| counted(*number, noun))
            .collect();
        if !without.is_empty() {
            let is = if self.without.iter().sum::<usize>() == 1 { "is" } else { "are" };
            text += &format!(
                "{} {is} not in the table: spawned without dyntrace, or before the table began\n",
                without.join(" and ")
            );
        }
        text
    }

    /// The gap that they show.
    pub fn note(&self) -> Option<String> {
        (self.unpolled > 0).then(|| {
            format!(
                "tasks of the table that had not been polled: {}. It does not tell which of those in memory they are; \
                 dyntrace ps --dead {} lists them",
                self.unpolled,
                escape::path(&self.path)
            )
        })
    }
}

/// Splits tasks of the table that no task in memory is: returns those that are in the table only, and how many had not been polled and are in
/// memory, of those `without` a task in the table, which it corrects.
pub(super) fn rest(
    left: impl Iterator<Item = u32>,
    slot: impl Fn(u32) -> Option<Slot>,
    without: &mut [usize; 2],
) -> (Vec<u32>, usize) {
    let (mut others, mut unpolled) = (Vec::new(), [Vec::new(), Vec::new()]);
    for place in left {
        match slot(place) {
            Some(Slot { state: State::Scheduled, kind, .. }) => {
                unpolled[usize::from(kind == TaskKind::Blocking)].push(place);
            }
            _ => others.push(place),
        }
    }
    let mut in_memory = 0;
    for (unpolled, without) in unpolled.into_iter().zip(without) {
        match without.checked_sub(unpolled.len()) {
            Some(rest) => (*without, in_memory) = (rest, in_memory + unpolled.len()),
            None => others.extend(unpolled),
        }
    }
    others.sort_unstable();
    (others, in_memory)
}

/// The number in the pid of a task in memory.
pub(super) fn process(task: &Task) -> Option<u64> {
    match &task.chain {
        Chain::Read { root } => root.process.map(NonZeroU64::get),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    fn pids<'l>(seen: impl Iterator<Item = &'l TaskEntry>) -> Vec<u64> {
        seen.map(|seen| seen.task.pid).collect()
    }

    #[test]
    fn tasks_are_joined_by_the_low_half_of_their_ids() {
        let mut listing = sample::listing();
        let last = listing.tasks.last_mut().unwrap();
        (last.id, last.address) = ((1 << 32) + 47, 0xffff);
        let of = |listing: &Listing| JoinedTable::of(sample::found(), Some(listing));
        let row = |kept: &JoinedTable, listing: &Listing, id: u64| {
            let task = listing.tasks.iter().find(|task| task.id == id).unwrap();
            kept.of_task(task).map(|seen| seen.task.pid)
        };
        // Two tasks have this low half: the table does not tell which one it means.
        let kept = of(&listing);
        assert_eq!(
            (row(&kept, &listing, 47), row(&kept, &listing, 3), row(&kept, &listing, 8)),
            (None, Some(57), None)
        );
        assert_eq!(pids(kept.others()), [65, 70, 71]);
        listing.tasks.pop();
        let kept = of(&listing);
        assert_eq!(row(&kept, &listing, 47), Some(65));
        // Task 3 polls the future 70. The future 71 has no task. The task 72 has not been polled: it is one of those in memory.
        assert_eq!((pids(kept.others()), kept.counts.unpolled), (vec![70, 71], 1));
    }

    #[test]
    fn a_pid_in_memory_is_better_than_an_id() {
        let mut listing = sample::listing();
        for (id, pid) in [(19, 72), (3, 70)] {
            let task = listing.tasks.iter_mut().find(|task| task.id == id).unwrap();
            let Chain::Read { root } = &mut task.chain else { unreachable!() };
            root.process = NonZeroU64::new(pid);
        }
        let kept = JoinedTable::of(sample::found(), Some(&listing));
        let row = |id: u64| {
            let task = listing.tasks.iter().find(|task| task.id == id).unwrap();
            kept.of_task(task).map(|seen| seen.task.pid)
        };
        // The task 72 has not been polled. Of the two futures in task 3, the later one is the task itself.
        assert_eq!((row(19), row(3), row(9)), (Some(72), Some(70), Some(60)));
        assert_eq!((pids(kept.others()), kept.counts.unpolled), (vec![57, 71], 0));
    }

    #[test]
    fn tasks_are_where_they_are_counted() {
        let listing = sample::listing();
        let kept = JoinedTable::of(sample::found(), Some(&listing));
        let complete = listing.tasks.iter().filter(|task| task.state.complete).count();
        let [tasks, jobs] = kept.counts.without;
        // With its eight that are joined, and one that has not been polled.
        assert_eq!((tasks + jobs + 8 + 1 + complete, jobs), (listing.tasks.len(), 1));
        let alone = JoinedTable::of(sample::found(), None);
        assert_eq!((pids(alone.others()).len(), alone.counts.without, alone.counts.unpolled), (11, [0, 0], 0));
    }
}
