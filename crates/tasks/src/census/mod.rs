//! Counts the tasks of a program: finds their cells, tells tasks from cells that are freed, and asks each runtime's
//! list.
//!
//! 1. A scan of the present heap memory finds cells that can be those of tasks.
//! 2. A second look at these cells drops those of tasks that have ended meanwhile. A task that lives all the time
//!    passes.
//! 3. The runtimes' lists are asked. Under load, links change between two reads: a task that looks unlinked is looked
//!    at again. One that is in no list is a freed cell, unless it is complete: a `JoinHandle` keeps complete tasks.
//! 4. Of the others, those on stacks are copies. Cells that no runtime owns are jobs of the blocking pool; one that waits is in its queue.

mod candidates;
mod copies;
mod follow;
mod ghosts;
mod links;
mod look;
mod owners;
mod places;
mod queued;
mod walk;

use std::collections::{BTreeMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

pub(crate) use copies::stacks;
use follow::Lists;
use look::{Cell, Followed, look};
use owners::{Owner, RuntimeFacts, owners};
use places::Places;
pub(crate) use places::read as place_at;

use crate::error::Error;
use crate::listing::{Runtime, SourceLine, State};
use crate::memory::Memory;
use crate::memory::maps::Mapping;
use crate::memory::source::Source;
use crate::scan::ByAddress;
use crate::vtables::TaskVtable;

/// Cells kept at most, which bounds the reader's memory to 2 GB.
const MOST: usize = 1 << 24;

/// A task's own words. A program may have millions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CensusTask {
    /// Of its header.
    pub address: u64,
    /// Its vtable's place among the program's.
    pub vtable: u32,
    /// The flags of its state.
    pub flags: u8,
    /// The runtime's number, 0 for jobs of the blocking pool.
    pub owner: u64,
    /// The first word of its scheduler: the address of the runtime's handle, if a runtime owns it. Two versions of
    /// tokio in one program give the same numbers to runtimes; this tells them apart.
    pub scheduler: u64,
    /// As `tokio::task::Id` prints it.
    pub id: u64,
    /// The place that spawned it, if the runtime recorded it.
    pub spawned_at: Option<Arc<SourceLine>>,
    /// Whether the runtime's own list contains it. `None` if the list is not known, or changed during each look.
    pub linked: Option<bool>,
}

impl CensusTask {
    /// Returns the flags of its state.
    #[must_use]
    pub fn state(&self) -> State {
        State::of(u64::from(self.flags))
    }
}

/// The tasks of a program at about one time.
#[derive(Debug, Clone, Default)]
pub struct Census {
    /// In the order of their ids.
    pub tasks: Vec<CensusTask>,
    /// In the order of their numbers.
    pub runtimes: Vec<Runtime>,
    /// Gaps of the census, in sentences for the user.
    pub notes: Vec<String>,
    /// Fields of tokio's structures that stand elsewhere than the reader takes them to stand: parts of a sentence.
    pub other_layout: Vec<String>,
    /// Other things that are not known: parts of a sentence.
    pub gaps: Vec<String>,
    /// Bytes of memory that were scanned.
    pub scanned: u64,
    /// The memory of the runtimes' lists.
    pub(crate) lists: Vec<Range<u64>>,
}

/// Reads a runtime's own count of its tasks, given one of them. Debug information can tell where the count is.
pub type Counter<'a> = &'a dyn Fn(&dyn Memory, &CensusTask) -> Option<u64>;

/// Counts the tasks in `memory`, whose vtables are `vtables` and whose mappings are `maps`. `without_polls` finds threads that poll nothing.
pub(crate) fn census(
    memory: &Source,
    vtables: &[TaskVtable],
    maps: &[Mapping],
    counter: Option<Counter<'_>>,
    without_polls: &dyn Fn() -> HashSet<u32>,
) -> Result<Census, Error> {
    let by_address = ByAddress::new(vtables);
    let heaps: Vec<&Mapping> = maps.iter().filter(|map| map.is_heap()).collect();
    let mut census = Census::default();
    let (mut candidates, scanned, elsewhere) = candidates::find(memory, &by_address, &heaps, MOST)?;
    census.scanned = scanned;
    census.other_layout.extend(elsewhere.told(candidates.len()));
    if candidates.len() == MOST {
        census.notes.push(format!("The program has more than {MOST} tasks: only these are shown."));
    }
    // Links are looked up by address.
    candidates.sort_unstable_by_key(|candidate| candidate.address);

    let mut cells = look(memory, vtables, &candidates);
    drop(candidates);
    copies::drop_unowned(&mut cells, vtables);
    let (mut owners, left_out) = owners(memory, &cells, owners::MOST);
    // Without any list, the others are taken for tasks.
    if left_out > 0 && owners.values().any(|known| known.list.is_some()) {
        census.notes.push(owners::of_left_out(left_out));
    }
    let lists = Lists { memory, vtables, by_address: &by_address, owners: &owners };
    let mut tasks = if lists.agree(&cells) {
        lists.follow(&cells)
    } else {
        census.other_layout.push(
            "another layout of tokio: the links in `Trailer.owned` contradict the runtimes' lists of their tasks; build with `debug = 2`"
                .to_owned(),
        );
        cells.iter().map(|cell| (*cell, None)).collect()
    };
    drop(cells);
    let mut present = memory.present()?;
    copies::drop_on_stacks(&mut tasks, |cells| copies::stacks(&mut present, &heaps, cells))?;
    let again = |cell: &Cell| look(memory, vtables, &[cell.candidate()]).pop();
    queued::drop_unqueued(&mut tasks, |jobs| queued::pointed(&mut present, &heaps, jobs), again)?;
    if let Some(process) = memory.process() {
        match ghosts::stacks(process, maps, &mut present)? {
            Some(Ok(stacks)) => census.notes.extend(of_ghosts(stacks.drop_ghosts(&mut tasks, &mut owners, without_polls))),
            Some(Err(tid)) => census.gaps.push(format!(
                "the process was forked, and which of the tasks are its parent's is not known: thread {tid} runs during each reading; \
                 look again, or with --stop"
            )),
            None => {}
        }
    }
    memory.check()?;

    census.add(memory, tasks, owners, counter)?;
    Ok(census)
}

/// Counts the tasks in the lists of these runtimes. `known`: addresses of tasks that an earlier look has found.
pub(crate) fn again(
    memory: &Source,
    vtables: &[TaskVtable],
    (runtimes, known): (&[Runtime], &[u64]),
    counter: Option<Counter<'_>>,
) -> Result<Census, Error> {
    let cells = walk::walk(memory, vtables, &ByAddress::new(vtables), runtimes, known);
    let owner = |runtime: &Runtime| Owner { number: runtime.owner, scheduler: runtime.scheduler };
    let facts = |runtime: &Runtime| RuntimeFacts { list: runtime.list.clone(), ..RuntimeFacts::default() };
    let owners = runtimes.iter().map(|runtime| (owner(runtime), facts(runtime))).collect();
    let mut census = Census::default();
    census.add(memory, cells.into_iter().map(|cell| (cell, Some(true))).collect(), owners, counter)?;
    Ok(census)
}

impl Census {
    /// Adds tasks, and their runtimes.
    fn add(
        &mut self,
        memory: &Source,
        tasks: Vec<Followed>,
        mut owners: BTreeMap<Owner, RuntimeFacts>,
        counter: Option<Counter<'_>>,
    ) -> Result<(), Error> {
        let mut places = Places::default();
        self.tasks = tasks.into_iter().map(|(cell, linked)| task(memory, cell, linked, &mut places)).collect();
        drop_repeated(&mut self.tasks);
        // It has the memory of the cells, which are larger.
        self.tasks.shrink_to_fit();
        for task in &self.tasks {
            let owner = Owner { number: task.owner, scheduler: task.scheduler };
            if let Some(known) = owners.get_mut(&owner) {
                known.any = task.id;
                // Complete tasks leave the list.
                known.found += u64::from(task.linked.unwrap_or(!task.state().complete));
            }
        }
        self.lists = owners.values().filter_map(|known| Some(known.list.as_ref()?.lists())).collect();
        self.runtimes = runtimes(memory, &self.tasks, &owners, counter);
        memory.check()
    }
}

/// Drops all but one task of each id and future, since tokio gives each id once. Two versions of tokio in one program
/// count apart, with futures of their own. The tasks that are left are in the order of their ids.
fn drop_repeated(tasks: &mut Vec<CensusTask>) {
    // The one that is in a list, then one with an owner.
    let rank = |task: &CensusTask| (task.linked != Some(true), task.owner == 0, task.address);
    tasks.sort_unstable_by_key(|task| (task.id, task.vtable, rank(task)));
    tasks.dedup_by_key(|task| (task.id, task.vtable));
}

fn task(memory: &dyn Memory, cell: Cell, linked: Option<bool>, places: &mut Places) -> CensusTask {
    CensusTask {
        address: cell.address,
        vtable: cell.vtable,
        flags: cell.state as u8,
        owner: cell.owner,
        scheduler: cell.scheduler,
        id: cell.id,
        spawned_at: places.get(memory, cell.spawned_at),
        linked,
    }
}

/// `None` if there are none.
fn of_ghosts((tasks, jobs): (usize, usize)) -> Option<String> {
    (tasks + jobs > 0).then(|| {
        format!(
            "The process was forked: of {tasks} tasks and {jobs} jobs in its memory, which are its parent's, it does not have the threads. \
             They are left out."
        )
    })
}

fn runtimes(
    memory: &dyn Memory,
    tasks: &[CensusTask],
    owners: &BTreeMap<Owner, RuntimeFacts>,
    counter: Option<Counter<'_>>,
) -> Vec<Runtime> {
    let seen = owners.iter().filter(|(_, known)| known.found > 0 || known.any != 0);
    let runtimes = seen.map(|(owner, known)| {
        // Tasks are in the order of their ids, and there may be many of both.
        let first = tasks.partition_point(|task| task.id < known.any);
        let any = tasks[first..]
            .iter()
            .take_while(|task| task.id == known.any)
            .find(|task| (task.owner, task.scheduler) == (owner.number, owner.scheduler));
        let described = any.and_then(|task| counter?(memory, task));
        // By shape, tokio 1.38's count is one of two words, of which the other one stays 0.
        let shaped = || known.list.as_ref()?.count(memory).filter(|count| *count > 0 || known.found == 0);
        Runtime {
            owner: owner.number,
            scheduler: owner.scheduler,
            // A task that leaves before it is counted makes it -1 for a moment.
            counted: described.or_else(shaped).map(|count| count.cast_signed().max(0).cast_unsigned()),
            found: known.found,
            // Without links, nothing leads through it.
            list: known.list.clone().filter(|_| any.is_some_and(|task| task.linked.is_some())),
        }
    });
    runtimes.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_cells_with_one_id_one_is_the_task() {
        let task = |address, vtable, owner, id, linked| CensusTask {
            address,
            vtable,
            flags: 0,
            owner,
            scheduler: 0,
            id,
            spawned_at: None,
            linked,
        };
        let mut tasks = vec![
            // Of another future.
            task(0x600, 1, 0, 2, None),
            task(0x100, 0, 0, 1, None),
            task(0x200, 0, 1, 1, Some(false)),
            task(0x300, 0, 1, 1, Some(true)),
            task(0x500, 0, 0, 2, None),
            task(0x400, 0, 0, 2, None),
        ];
        drop_repeated(&mut tasks);
        assert_eq!(tasks.iter().map(|task| task.address).collect::<Vec<_>>(), [0x300, 0x400, 0x600]);
    }
}
