//! A table of many tasks, beside tasks in memory that come one after another, on several threads.

use std::collections::HashSet;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use dyntrace_task_table::{Compact, TaskEntry};
use dyntrace_tasks::listing::Task;

use super::find::ReadTable;
use super::joined::{Counts, Times, process, rest};
use super::notes;

/// A table, and which of its tasks were found in memory.
pub struct Rows {
    found: ReadTable<Compact>,
    /// The first task with each id, by its place; without ids that are those of several tasks in memory.
    by_id: Vec<(u32, u32)>,
    /// Whether a task in memory is this one. Relaxed: the ends of the threads order them.
    taken: Vec<AtomicBool>,
    unsure: AtomicBool,
}

impl Rows {
    /// `ids`: those of all tasks in memory.
    pub fn of(found: ReadTable<Compact>, ids: impl Iterator<Item = u64>) -> Rows {
        // The table has the low half of an id.
        let mut low: Vec<u32> = ids.map(|id| id as u32).collect();
        low.sort_unstable();
        let twice: HashSet<u32> = low.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| pair[0]).collect();
        drop(low);
        let table = &found.table;
        let ids = (0..table.len()).filter_map(|place| Some((table.slot(place)?.id, u32::try_from(place).ok()?)));
        let mut by_id = Vec::with_capacity(table.len());
        by_id.extend(ids.filter(|(id, _)| *id != 0 && !twice.contains(id)));
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
    pub fn of_task<'s>(&self, task: &Task, last: &'s mut Option<TaskEntry>) -> Option<&'s TaskEntry> {
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
    pub fn others(&self, mut without: [usize; 2], mut take: impl FnMut(&TaskEntry)) -> Counts {
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

#[cfg(test)]
mod tests {
    use std::num::NonZeroU64;

    use dyntrace_task_table::layout::{MAGIC, SLOT, SLOT_WORDS, TEXTS, VERSION, header, slot};
    use dyntrace_task_table::lock::joined;
    use dyntrace_task_table::{State, Table, Task as Slot, TaskKind};
    use dyntrace_tasks::listing::{Chain, Listing};

    use super::*;
    use crate::sample;
    use crate::table::JoinedTable;

    /// The bytes of a table with these pids, ids and states.
    fn bytes(slots: &[(u64, u32, State, TaskKind)]) -> Vec<u8> {
        let mut words = vec![0_u64; (TEXTS + 4096 + slots.len() * SLOT) / 8];
        words[header::MAGIC] = MAGIC;
        words[header::VERSION] = u64::from(VERSION);
        words[header::SLOTS] = TEXTS as u64 + 4096;
        words[header::LENGTH] = slots.len() as u64;
        let places = ((TEXTS + 4096) / 8..).step_by(SLOT_WORDS);
        for (place, (pid, id, state, kind)) in places.zip(slots) {
            words[place + slot::LOCK] = joined(2, *id);
            words[place + slot::PID] = Slot::pid_word(*pid, *kind, *state);
        }
        words.iter().flat_map(|word| word.to_ne_bytes()).collect()
    }

    fn found<T>(table: T) -> ReadTable<T> {
        ReadTable { table, path: "4711.tasks".into(), now: 0 }
    }

    fn process_of(listing: &mut Listing, id: u64, pid: u64) {
        let task = listing.tasks.iter_mut().find(|task| task.id == id).unwrap();
        let Chain::Read { root } = &mut task.chain else { unreachable!() };
        root.process = NonZeroU64::new(pid);
    }

    #[test]
    fn each_task_is_found_as_in_a_table_that_was_read_whole() {
        use {State::*, TaskKind::*};
        let table = bytes(&[
            (70, 3, Idle, Future),
            (57, 3, Idle, Future),
            (58, 5, Running, Future),
            (60, 9, Idle, Future),
            (65, 47, Idle, Future),
            (71, 0, Idle, Future),
            (72, 0, Scheduled, Future),
            (73, 0, Scheduled, Future),
            (74, 0, Scheduled, Blocking),
            (75, 0, Scheduled, Blocking),
            (76, 8, Idle, Future),
        ]);
        let mut listing = sample::listing();
        // Two have the same low half, memory tells the pids of two, of which the table does not have one.
        listing.tasks.last_mut().unwrap().id = (1 << 32) + 47;
        process_of(&mut listing, 19, 72);
        process_of(&mut listing, 8, 99);
        let kept = JoinedTable::of(found(Table::read(&table[..]).unwrap()), Some(&listing));
        let rows = Rows::of(found(Compact::read(&table[..]).unwrap()), listing.tasks.iter().map(|task| task.id));
        let (mut last, mut without) = (None, [0; 2]);
        for task in &listing.tasks {
            let row = rows.of_task(task, &mut last);
            assert_eq!(row, kept.of_task(task), "task {}", task.id);
            if row.is_none() && !task.state.complete {
                without[usize::from(task.owner == 0)] += 1;
            }
        }
        assert!(!rows.are_unsure());
        let mut others = Vec::new();
        let counts = rows.others(without, |seen| others.push(seen.task.pid));
        assert_eq!(others, kept.others().map(|seen| seen.task.pid).collect::<Vec<_>>());
        assert_eq!(others, [65, 70, 71, 74, 75, 76]);
        assert_eq!((counts.text(), counts.note()), (kept.counts.text(), kept.counts.note()));
        assert_eq!(rows.notes(&counts), kept.notes());
    }

    #[test]
    fn a_task_with_the_id_and_another_with_the_pid_are_unsure() {
        let table = bytes(&[(57, 3, State::Idle, TaskKind::Future)]);
        let mut listing = sample::listing();
        process_of(&mut listing, 8, 57);
        let rows = Rows::of(found(Compact::read(&table[..]).unwrap()), listing.tasks.iter().map(|task| task.id));
        for task in &listing.tasks {
            let _ = rows.of_task(task, &mut None);
        }
        assert!(rows.are_unsure());
    }
}
