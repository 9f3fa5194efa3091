//! Walks the runtimes' lists of their tasks: takes as long as there are tasks, however large the heap is.
//!
//! The program changes the lists meanwhile. The walk of a list ends at a cell that is no task of its runtime any more; the runtime's own
//! count tells how many tasks were missed. Complete tasks and jobs of the blocking pool are in no list.

use std::collections::HashSet;

use super::MOST;
use super::look::{Cell, look};
use crate::listing::Runtime;
use crate::memory::{Memory, Piece};
use crate::scan::{ByAddress, Candidate};
use crate::vtables::TaskVtable;

/// Walks of all lists, at most, as long as each misses tasks.
const TRIES: usize = 3;

/// Returns the tasks in these runtimes' lists, in the order of their addresses.
pub fn walk(
    memory: &(dyn Memory + Sync),
    vtables: &[TaskVtable],
    by_address: &ByAddress,
    runtimes: &[Runtime],
) -> Vec<Cell> {
    let lists = || runtimes.iter().filter_map(|runtime| Some((runtime.owner, runtime.list.as_ref()?)));
    let mut best = Vec::new();
    for _ in 0..TRIES {
        let ends = lists().filter_map(|(owner, list)| Some((owner, list.ends(memory)?)));
        let first: Vec<(u64, u64)> =
            ends.flat_map(|(owner, ends)| ends.first.into_iter().map(move |address| (owner, address))).collect();
        let cells = from(memory, vtables, by_address, first);
        if cells.len() > best.len() {
            best = cells;
        }
        let counted: u64 = lists().filter_map(|(_, list)| list.count(memory)).sum();
        if best.len() as u64 >= counted {
            break;
        }
    }
    best.sort_unstable_by_key(|cell| cell.address);
    best
}

/// Follows lists from these tasks, each given behind the number of its runtime: one task of each list at a time.
fn from(
    memory: &(dyn Memory + Sync),
    vtables: &[TaskVtable],
    by_address: &ByAddress,
    mut at: Vec<(u64, u64)>,
) -> Vec<Cell> {
    let (mut cells, mut visited): (Vec<Cell>, HashSet<u64>) = (Vec::new(), HashSet::new());
    while !at.is_empty() && cells.len() < MOST {
        at.retain(|(_, address)| visited.insert(*address));
        let pieces = at.iter().map(|(_, address)| Piece { address: *address, length: by_address.header() });
        let mut candidates = Vec::new();
        memory.read_pieces(&pieces.collect::<Vec<_>>(), &mut |index, header| {
            let (owner, address) = at[index];
            if let Some((header, vtable)) = header.and_then(|header| by_address.header_at(header))
                && header.owner == owner
            {
                candidates.push(Candidate { address, vtable });
            }
        });
        let found = look(memory, vtables, &candidates);
        at = found.iter().map(|cell| (cell.owner, cell.next)).filter(|(_, next)| *next != 0).collect();
        cells.extend(found);
    }
    cells
}
