//! A table of many tasks in little memory: each takes the size of its slot.

use crate::layout::{Resource, SLOT_WORDS, Task, slot};
use crate::lock::{halves, joined};
use crate::reader::{Error, Read, Table, TaskEntry, Thing, Waits};
use crate::source::Source;
use crate::texts::Constants;

/// The words of a slot. In place of its lock, the first one has the number of the task's tag, from 1; 0 without one.
type Words = [u64; SLOT_WORDS];

/// A table whose tasks are made one by one.
#[derive(Debug)]
pub struct Compact {
    /// The table, without its tasks.
    pub table: Table,
    /// In the order of their pids.
    slots: Vec<Words>,
    pairs: Constants,
    tags: Vec<Box<str>>,
}

impl Compact {
    /// Reads a table, as [`Table::read`] does.
    ///
    /// # Errors
    ///
    /// As [`Table::read`].
    pub fn read(source: &(impl Source + ?Sized)) -> Result<Compact, Error> {
        let (mut slots, mut tags): (Vec<Words>, _) = (Vec::new(), Vec::new());
        let (table, pairs) = Table::read_each(source, &mut |Read { header, words, seen, .. }| {
            // A vector that grows leaves as much memory behind.
            if slots.is_empty() {
                slots.reserve_exact(usize::try_from(header.length).unwrap_or(0));
            }
            let tag = seen.tag.map_or(0, |tag| {
                tags.push(tag);
                // A table has 2^20 slots at most.
                u32::try_from(tags.len()).unwrap_or(0)
            });
            let mut words = *words;
            words[slot::LOCK] = joined(tag, halves(words[slot::LOCK]).1);
            slots.push(words);
        })?;
        slots.sort_unstable_by_key(|words| words[slot::PID] >> 16);
        Ok(Compact { table, slots, pairs, tags })
    }

    /// Returns how many tasks there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// Returns whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Returns the slot of a task. Tasks are in the order of their pids.
    #[must_use]
    pub fn slot(&self, place: usize) -> Option<Task> {
        Task::of(self.slots.get(place)?)
    }

    /// Returns the place of the first task with a pid.
    #[must_use]
    pub fn place_of(&self, pid: u64) -> Option<usize> {
        let place = self.slots.partition_point(|words| words[slot::PID] >> 16 < pid);
        self.slots.get(place).filter(|words| words[slot::PID] >> 16 == pid).map(|_| place)
    }

    /// Returns a task with its texts. `last` is the one before, whose texts it takes over if they are the same: then threads that read
    /// tasks of one function need not take turns at the counts of its texts.
    pub fn seen<'s>(&self, place: usize, last: &'s mut Option<TaskEntry>) -> Option<&'s TaskEntry> {
        let task = self.slot(place)?;
        let tag = halves(self.slots[place][slot::LOCK]).0;
        match last {
            Some(known) if tag == 0 && known.tag.is_none() && texts(&known.task) == texts(&task) => known.task = task,
            _ => *last = Some(self.with_texts(task, tag)),
        }
        last.as_ref()
    }

    fn with_texts(&self, task: Task, tag: u32) -> TaskEntry {
        let pair = |reference| self.pairs.get(&reference).cloned().flatten();
        let wait = task.wait.map(|wait| Waits {
            site: pair(wait.site),
            resource: match wait.resource {
                Resource::Numbered(number) => Thing::Numbered(number),
                Resource::Named(name) => Thing::Named(pair(name)),
                Resource::Process(pid) => Thing::Process(pid),
                Resource::Operation { thread, tag } => Thing::Operation { thread, tag },
            },
        });
        let tag = (tag as usize).checked_sub(1).and_then(|tag| self.tags.get(tag).cloned());
        TaskEntry { task, site: pair(task.site), tag, wait }
    }
}

/// The references of a task, without that of its tag.
fn texts(task: &Task) -> (u32, Option<(u32, Resource)>) {
    (task.site, task.wait.map(|wait| (wait.site, wait.resource)))
}
