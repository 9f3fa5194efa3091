//! Tasks that nothing can wake any more.
//!
//! A task that waits is woken through its address: a `Waker`, a `JoinHandle` and a queue of a runtime have that of its cell, a list of
//! waiters and a timer wheel that of a part of its future. If no such address is left in memory that the program can still reach, the task
//! is leaked. Reachable memory is found as a conservative garbage collector finds it: each aligned word may be an address.
//!
//! 1. The census finds the tasks and the lists in which each runtime has all of its tasks. A task is in its list until it ends, and the list
//!    wakes none of them before the runtime ends: its links are no way to a task.
//! 2. The heaps of glibc's allocator are copied and cut into blocks by the sizes before them. A free block is none, and the allocator's own
//!    lists of free blocks are no way to one. Memory of other allocators cannot be cut: it counts as reachable, and its tasks are unknown.
//! 3. The search begins from the registers and stacks of all threads, all writable memory outside of these heaps (statics, thread-local
//!    variables, mappings), the words that an epoll or a timer in the kernel keeps, and the tasks that run or are scheduled.
//! 4. From there each word that points to a block, or into it, reaches the block. Of cells whose types are known, only the parts with values
//!    count. A waiting task whose block was not reached is leaked: each channel, lock or handle with its address is itself out of reach,
//!    such as one that only leaked tasks have.
//! 5. A poll leaves the task's address on stacks and in queues. A task counts its references: if its own memory and what that leads to have
//!    all of its wakers, such a word is an old copy (`wakers.rs`). A task with the single reference of its runtime's list is leaked without
//!    a search.
//! 6. If a part could not be read, tasks that were not reached are unknown. Reached ones are alive: elsewhere an old copy of an address
//!    suffices, so that a leak may be missed.
//!
//! A running program moves addresses while it is read. A task is leaked only if each of three looks says so, in turn from the lowest address
//! up and from the highest one down; each reads the threads before and after the memory. A stopped program is looked at once.
//!
//! The answer rests on this: addresses stand in aligned words; and at most those of a `Box` or an `Arc` have a tag, in the lowest three bits.

mod heap;
mod reach;
mod roots;
mod wakers;

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::ops::Range;
use std::thread;
use std::time::Duration;

use serde::Serialize;

use crate::cell::{COMPLETE, NOTIFIED, RUNNING, references};
use crate::census::{Census, CensusTask};
use crate::error::Error;
use crate::image;
use crate::listing::{Runtime, Task};
use crate::memory::Memory;
use crate::memory::live::Process;
use crate::memory::source::Present;
use crate::program::Program;
use crate::reading::Described;
use heap::Heap;
use reach::{Block, From, Heaps};
use roots::Ranges;
use wakers::Wakers;

/// Looks at a running program that must agree.
const LOOKS: usize = 3;

/// Between two looks.
const PAUSE: Duration = Duration::from_millis(20);

/// Copies of a heap that the program changes meanwhile, at most.
const COPIES: usize = 5;

/// Bytes that are copied in one direction before the next part.
const PART: u64 = 1 << 20;

/// Leaked tasks of which is told which other ones have their addresses, and blocks that are followed for each.
const FOLLOWED: usize = 1000;

/// The answer about a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// It runs, is scheduled, or has ended: it does not wait.
    Scheduled,
    /// Memory that the program can reach has its address.
    Alive,
    /// Nothing can wake it.
    Leaked,
    /// Nothing is known to wake it, and a part was not seen.
    Unknown,
}

/// A task that nothing can wake.
#[derive(Debug, Clone, Serialize)]
pub struct Leak {
    /// With its chain.
    pub task: Task,
    /// References that the task counts, with that of its runtime's list. The others are out of reach.
    pub references: u64,
    /// The ids of leaked tasks whose memory leads to it: they have the other end of its channel, or its handle. May be the task itself.
    pub held_by: BTreeSet<u64>,
}

/// The answers about all tasks of a program.
#[derive(Debug, Default)]
pub struct Leaks {
    /// In the order of their ids.
    pub leaked: Vec<Leak>,
    /// Of each task its address and the answer, in the order of ids.
    pub answers: Vec<(u64, Answer)>,
    /// One for each runtime that was found.
    pub runtimes: Vec<Runtime>,
    /// Why tasks are unknown: parts of a sentence.
    pub gaps: Vec<String>,
    /// Gaps of the census, in sentences for the user.
    pub notes: Vec<String>,
}

impl Leaks {
    /// Returns the number of tasks with this answer.
    #[must_use]
    pub fn count(&self, answer: Answer) -> usize {
        self.answers.iter().filter(|(_, of)| *of == answer).count()
    }
}

/// One look.
struct Look {
    heaps: Heaps,
    gaps: BTreeSet<String>,
}

impl Program {
    /// Finds the tasks that nothing can wake any more.
    ///
    /// # Errors
    ///
    /// As [`listing`](Self::listing).
    pub fn leaks(&self, described: &Described<'_>) -> Result<Leaks, Error> {
        let stopped = self.stop()?;
        let Census { tasks, runtimes, lists, mut notes, other_layout, gaps, .. } = self.count(None)?;
        notes.extend(self.memory().notes());
        let mut missed: BTreeSet<String> = gaps.into_iter().chain(other_layout).chain(self.memory().unread()).collect();
        missed.extend(self.gaps().iter().cloned());
        let mut answers = vec![Answer::Unknown; tasks.len()];
        let mut held_by = HashMap::new();
        if let Some(process) = self.memory().process() {
            let looks = if stopped.is_some() { 1 } else { LOOKS };
            for number in 0..looks {
                if number > 0 {
                    thread::sleep(PAUSE);
                }
                let mut look = self.look(process, described, &tasks, &lists, number % 2 == 1)?;
                look.gaps.extend(missed.iter().cloned());
                for (task, answer) in tasks.iter().zip(&mut answers) {
                    if number == 0 || *answer == Answer::Leaked {
                        *answer = look.answer(self, task);
                    }
                }
                if look.gaps.is_empty() && answers.contains(&Answer::Unknown) {
                    missed.insert(
                        "tasks are in memory whose blocks are not known: of another allocator than glibc's; or their runtimes' lists are not known"
                            .to_owned(),
                    );
                }
                missed.append(&mut look.gaps);
                if !answers.contains(&Answer::Leaked) {
                    break;
                }
                held_by = look.held_by(&tasks, &answers);
            }
        } else {
            missed.insert("a core file has no registers of threads".to_owned());
        }
        self.memory().check()?;
        let places: Vec<usize> = (0..tasks.len()).filter(|place| answers[*place] == Answer::Leaked).collect();
        let leaked = self.tasks_at(described, &tasks, &places).into_iter().map(|task| {
            let state = self.memory().word(task.address).unwrap_or(0);
            let held_by = held_by.remove(&task.address).unwrap_or_default();
            Leak { references: references(state), held_by, task }
        });
        let leaked = leaked.collect();
        let answers = tasks.iter().map(|task| task.address).zip(answers).collect();
        Ok(Leaks { leaked, answers, runtimes, gaps: missed.into_iter().collect(), notes })
    }

    fn look(
        &self,
        process: &Process,
        described: &Described<'_>,
        tasks: &[CensusTask],
        lists: &[Range<u64>],
        is_backwards: bool,
    ) -> Result<Look, Error> {
        let mut gaps = Vec::new();
        let maps = self.mappings()?;
        let ranges = Ranges::of(self.memory(), &maps);
        let before = roots::threads(process, &mut gaps);
        let mut present = self.memory().present()?;
        let mut heaps = Heaps::default();
        let mut of_memory = Vec::new();
        for is_of_heaps in [!is_backwards, is_backwards] {
            if is_of_heaps {
                heaps = copies(&mut present, &ranges, is_backwards, &mut gaps)?;
            } else {
                of_memory = roots::of_memory(&mut present, &maps, &ranges, &before)?;
            }
        }
        let kernels = roots::of_kernel(process, &maps, &mut gaps);
        let after = roots::threads(process, &mut gaps);

        let cells: HashMap<u64, usize> = (0..).zip(tasks).map(|(place, task)| (task.address, place)).collect();
        for at in lists.iter().flat_map(|list| list.clone().step_by(24)) {
            [8, 16].into_iter().for_each(|end| heaps.clear(at + end, |word| cells.contains_key(&word)));
        }
        let mut scheduled = Vec::new();
        for task in tasks {
            let vtable = &self.vtables()[task.vtable as usize];
            [0, 8].into_iter().for_each(|link| heaps.clear(task.address + vtable.links + link, |_| true));
            let state = self.state(&heaps, task);
            if state.is_some_and(|state| state & (RUNNING | NOTIFIED) != 0) {
                scheduled.push(task.address);
            }
        }
        let wakers = Wakers {
            program: self,
            described,
            tasks,
            cells: &cells,
            code: image::code(self.images()),
            stacks: before.iter().map(|thread| thread.read.clone()).collect(),
            tables: RefCell::default(),
            known: RefCell::default(),
        };
        let threads = before.iter().chain(&after).flat_map(|thread| &thread.words).map(|word| (*word, From::Stack));
        let others = of_memory.into_iter().chain(kernels).chain(scheduled).map(|word| (word, From::Memory));
        heaps.reach(
            others.chain(threads),
            |heaps, block| wakers.live(heaps, block),
            |heaps, block, word, from| wakers.counts(heaps, block, word, from),
        );
        Ok(Look { heaps, gaps: gaps.into_iter().collect() })
    }

    /// The state word of a task: in the copy, or now if no heap has it. `None` if the task is gone.
    fn state(&self, heaps: &Heaps, task: &CensusTask) -> Option<u64> {
        let vtable = &self.vtables()[task.vtable as usize];
        let word = |offset: u64| {
            let address = task.address + offset;
            heaps.word(address).or_else(|| self.memory().word(address).ok())
        };
        (word(vtable.header.vtable)? == vtable.address).then(|| word(vtable.header.state)).flatten()
    }
}

impl Look {
    fn answer(&self, program: &Program, task: &CensusTask) -> Answer {
        let Some(state) = program.state(&self.heaps, task) else { return Answer::Scheduled };
        if task.owner == 0 || state & (RUNNING | NOTIFIED | COMPLETE) != 0 {
            return Answer::Scheduled;
        }
        if references(state) == 1 && task.linked == Some(true) {
            return Answer::Leaked;
        }
        match self.heaps.block(task.address) {
            Some(block) if self.heaps.is_reached(block) => Answer::Alive,
            // One that is in no list may be what an ended task has left.
            Some(_) if self.gaps.is_empty() && task.linked == Some(true) => Answer::Leaked,
            _ => Answer::Unknown,
        }
    }

    /// Of leaked tasks, by their addresses, the ids of leaked tasks whose memory leads to them.
    fn held_by(&self, tasks: &[CensusTask], answers: &[Answer]) -> HashMap<u64, BTreeSet<u64>> {
        let leaked = tasks.iter().zip(answers).filter(|(_, answer)| **answer == Answer::Leaked).take(FOLLOWED);
        let blocks: HashMap<Block, &CensusTask> =
            leaked.filter_map(|(task, _)| Some((self.heaps.block(task.address)?, task))).collect();
        let mut held_by: HashMap<u64, BTreeSet<u64>> = HashMap::new();
        for (from, task) in &blocks {
            let found = self.heaps.unreached(*from, FOLLOWED, |block| blocks.contains_key(&block));
            for led in found.iter().filter_map(|block| blocks.get(block)) {
                held_by.entry(led.address).or_default().insert(task.id);
            }
        }
        held_by
    }
}

/// Copies the heaps, and cuts them into blocks.
fn copies(
    present: &mut Present<'_>,
    ranges: &Ranges,
    is_backwards: bool,
    gaps: &mut Vec<String>,
) -> Result<Heaps, Error> {
    let bytes: u64 = ranges.all.iter().map(|(range, _)| range.end - range.start).sum();
    if available().is_some_and(|available| bytes > available / 2) {
        gaps.push(format!("its heap has {} MiB, and the reader cannot have a copy of it", bytes >> 20));
        return Ok(Heaps::default());
    }
    let mut heaps = Vec::new();
    for (range, is_further) in &ranges.all {
        let mut heap = None;
        for _ in 0..COPIES {
            heap = Heap::of(range.start, copy(present, range, is_backwards)?, *is_further);
            if heap.is_some() {
                break;
            }
        }
        match heap {
            Some(heap) => heaps.push(heap),
            None => gaps.push(format!(
                "the blocks of the heap at {:#x} were not found: another allocator has it, or the program changes it; look again with --stop",
                range.start
            )),
        }
    }
    Ok(Heaps(heaps))
}

fn copy(present: &mut Present<'_>, range: &Range<u64>, is_backwards: bool) -> Result<Vec<u64>, Error> {
    let mut words = vec![0; usize::try_from((range.end - range.start) / 8).unwrap_or(0)];
    let count = (range.end - range.start).div_ceil(PART);
    for number in 0..count {
        let start = range.start + PART * if is_backwards { count - 1 - number } else { number };
        present.read(&(start..range.end.min(start + PART)), |address, bytes| {
            let begin = ((address - range.start) / 8) as usize;
            for (word, bytes) in words[begin..].iter_mut().zip(bytes.as_chunks::<8>().0) {
                *word = u64::from_le_bytes(*bytes);
            }
        })?;
    }
    Ok(words)
}

/// Bytes of memory that the reader can have.
fn available() -> Option<u64> {
    let facts = fs::read_to_string("/proc/meminfo").ok()?;
    let line = facts.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    Some(line.trim().strip_suffix(" kB")?.parse::<u64>().ok()? << 10)
}
