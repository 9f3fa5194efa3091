//! Tasks that a forked child has of its parent. Its memory has their cells and runtimes, but fork copies one thread only.
//!
//! A thread that drives a runtime has its handle on the stack, and a thread that runs a job the job's cell. The main thread runs no jobs, and
//! no worker of a runtime with several threads: it may hold both without running them.

use std::collections::{BTreeMap, HashSet};
use std::thread;
use std::time::Duration;

use super::copies;
use super::look::{Cell, Followed};
use super::owners::{Owner, RuntimeFacts};
use crate::cell::RUNNING;
use crate::error::Error;
use crate::kernel;
use crate::memory::Memory;
use crate::memory::live::Process;
use crate::memory::maps::Mapping;
use crate::memory::source::Present;

/// Looks at a thread that runs.
const LOOKS: u32 = 50;

/// Between two looks.
const PAUSE: Duration = Duration::from_millis(1);

/// Bytes of a stack that are read, at most.
const STACK: u64 = 8 << 20;

/// Bytes of a runtime's handle to which a stack may point.
const HANDLE: u64 = 0x400;

/// The words on the stacks of the process's threads that may lead to runtimes or jobs, in order.
pub struct Stacks {
    main: Vec<u64>,
    /// Of each other thread, by its id.
    others: Vec<(u32, Vec<u64>)>,
}

/// Reads the stacks if the process is a forked child. `None` if it is not.
///
/// # Errors
///
/// The inner error is the id of a thread that never stood, or whose stack cannot be read.
pub fn stacks(
    process: &Process,
    maps: &[Mapping],
    present: &mut Present<'_>,
) -> Result<Option<Result<Stacks, u32>>, Error> {
    if !kernel::is_forked(process) {
        return Ok(None);
    }
    let heaps: Vec<&Mapping> = maps.iter().filter(|map| map.is_heap()).collect();
    let mut stacks = Stacks { main: Vec::new(), others: Vec::new() };
    for tid in kernel::threads(process) {
        let pointer = (0..LOOKS).find_map(|look| {
            if look > 0 {
                thread::sleep(PAUSE);
            }
            kernel::stack_pointer(process, tid)
        });
        let Some((pointer, mapping)) =
            pointer.and_then(|pointer| Some((pointer, maps.iter().find(|map| map.range.contains(&pointer))?)))
        else {
            return Ok(Some(Err(tid)));
        };
        let bounds = copies::stacks(present, &heaps, &[pointer])?;
        let stack = bounds.iter().find(|range| range.contains(&pointer)).unwrap_or(&mapping.range);
        let begin = pointer & !7;
        let length = stack.end - begin;
        let mut bytes = vec![0; usize::try_from(length.min(STACK)).unwrap_or(0)];
        if length > STACK || process.read(begin, &mut bytes).is_err() {
            return Ok(Some(Err(tid)));
        }
        let mut words: Vec<u64> = bytes.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word)).collect();
        words.sort_unstable();
        words.dedup();
        if &*mapping.path == "[stack]" { stacks.main = words } else { stacks.others.push((tid, words)) }
    }
    Ok(Some(Ok(stacks)))
}

impl Stacks {
    /// Drops the parent's tasks, jobs and runtimes. Returns the numbers of tasks and of jobs. `without_polls` finds threads that poll nothing.
    pub fn drop_ghosts(
        &self,
        cells: &mut Vec<Followed>,
        owners: &mut BTreeMap<Owner, RuntimeFacts>,
        without_polls: impl Fn() -> HashSet<u32>,
    ) -> (usize, usize) {
        let lead_to = |words: &[u64], address: u64, length: u64| {
            let index = words.partition_point(|word| *word < address);
            words.get(index).is_some_and(|word| *word - address < length)
        };
        let is_job = |cell: &Cell| cell.owner == 0 && cell.state & RUNNING != 0;
        let jobs: Vec<(u64, u64)> =
            cells.iter().filter(|(cell, _)| is_job(cell)).map(|(cell, _)| (cell.id, cell.address)).collect();
        // Each runs on a thread of its own.
        let has_ghosts = jobs.len() > self.others.len();
        // A new thread may have the stack of one that the parent had, with its words: ids count up.
        let without_polls = if has_ghosts { without_polls() } else { HashSet::new() };
        let run = self.others.iter().filter(|(tid, _)| !without_polls.contains(tid));
        let run = run.filter_map(|(_, words)| jobs.iter().filter(|(_, address)| lead_to(words, *address, 1)).max());
        let run: HashSet<u64> = run.map(|(_, address)| *address).collect();
        let is_driven = |owner: &Owner, known: &RuntimeFacts| {
            let Some(is_of_one_thread) = known.list.as_ref().and_then(|list| list.is_of_one_thread()) else {
                return true;
            };
            self.others.iter().any(|(_, words)| lead_to(words, owner.scheduler, HANDLE))
                || is_of_one_thread && lead_to(&self.main, owner.scheduler, HANDLE)
        };
        let ghosts: HashSet<Owner> =
            owners.iter().filter(|(owner, known)| !is_driven(owner, known)).map(|(owner, _)| *owner).collect();
        let is_unrun = |cell: &Cell| has_ghosts && is_job(cell) && !run.contains(&cell.address);
        let is_ghost = |cell: &Cell| Owner::of(cell).map_or_else(|| is_unrun(cell), |owner| ghosts.contains(&owner));
        // A job from before the fork runs only on the thread that forked.
        let forked = cells.iter().filter(|(cell, _)| is_ghost(cell)).map(|(cell, _)| cell.id).max().unwrap_or(0);
        let is_before = |cell: &Cell| has_ghosts && !self.main.is_empty() && is_job(cell) && cell.id < forked;
        let mut dropped = (0, 0);
        cells.retain(|(cell, _)| {
            let is_left_out = is_ghost(cell) || is_before(cell);
            let count = if cell.owner == 0 { &mut dropped.1 } else { &mut dropped.0 };
            *count += usize::from(is_left_out);
            !is_left_out
        });
        owners.retain(|owner, _| !ghosts.contains(owner));
        dropped
    }
}
