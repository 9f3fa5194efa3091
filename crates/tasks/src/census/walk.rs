//! Walks the runtimes' lists of their tasks: takes as long as there are tasks, however large the heap is.
//!
//! The program changes the lists meanwhile. The walk of a list ends at a cell that is no task of its runtime any more; the runtime's own
//! count tells how many tasks were missed. Complete tasks and jobs of the blocking pool are in no list.
//!
//! A walk reads one task of each list at a time. So tasks that an earlier look has found are read all at once before it.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use super::MOST;
use super::look::{Cell, look};
use crate::listing::Runtime;
use crate::memory::{Memory, Piece};
use crate::scan::{ByAddress, Candidate};
use crate::vtables::TaskVtable;

/// Walks of all lists, at most, as long as each misses tasks.
const TRIES: usize = 3;

/// Returns the tasks in these runtimes' lists, in the order of their addresses. `known`: addresses of tasks that an earlier look has found.
pub fn walk(
    memory: &(dyn Memory + Sync),
    vtables: &[TaskVtable],
    by_address: &ByAddress,
    runtimes: &[Runtime],
    known: &[u64],
) -> Vec<Cell> {
    let lists = || runtimes.iter().filter_map(|runtime| Some((runtime.owner, runtime.list.as_ref()?)));
    let read = |addresses: &[u64]| read(memory, vtables, by_address, addresses);
    let mut known: HashMap<u64, Cell> = read(known).into_iter().map(|cell| (cell.address, cell)).collect();
    let mut best = Vec::new();
    for _ in 0..TRIES {
        let ends = lists().filter_map(|(owner, list)| Some((owner, list.ends(memory)?)));
        let first: Vec<(u64, u64)> =
            ends.flat_map(|(owner, ends)| ends.first.into_iter().map(move |address| (owner, address))).collect();
        let cells = from(first, &known, read);
        if cells.len() > best.len() {
            best = cells;
        }
        let counted: u64 = lists().filter_map(|(_, list)| list.count(memory)).sum();
        if best.len() as u64 >= counted {
            break;
        }
        known.clear();
    }
    best.sort_unstable_by_key(|cell| cell.address);
    best
}

/// Follows lists from these tasks, each given behind the number of its runtime: one task of each list at a time.
fn from(mut at: Vec<(u64, u64)>, known: &HashMap<u64, Cell>, read: impl Fn(&[u64]) -> Vec<Cell>) -> Vec<Cell> {
    // The tasks of the walk, with their runtimes' numbers.
    let (mut cells, mut visited): (Vec<Cell>, HashMap<u64, u64>) = (Vec::new(), HashMap::new());
    while !at.is_empty() && cells.len() < MOST {
        let (mut found, mut unknown) = (Vec::new(), Vec::new());
        for (owner, address) in at {
            if let Entry::Vacant(new) = visited.entry(address) {
                new.insert(owner);
                known.get(&address).map_or_else(|| unknown.push(address), |cell| found.push(*cell));
            }
        }
        if !unknown.is_empty() {
            found.extend(read(&unknown));
        }
        found.retain(|cell| visited.get(&cell.address) == Some(&cell.owner));
        at = found.iter().map(|cell| (cell.owner, cell.next)).filter(|(_, next)| *next != 0).collect();
        cells.extend(found);
    }
    cells
}

/// Reads the tasks at these addresses. Leaves out what is none.
fn read(memory: &(dyn Memory + Sync), vtables: &[TaskVtable], by_address: &ByAddress, addresses: &[u64]) -> Vec<Cell> {
    let length = by_address.header();
    let pieces: Vec<Piece> = addresses.iter().map(|address| Piece { address: *address, length }).collect();
    let mut candidates = Vec::new();
    memory.read_pieces(&pieces, &mut |index, header| {
        let vtable = header.and_then(|header| by_address.header_at(header)).map(|(_, vtable)| vtable);
        candidates.extend(vtable.map(|vtable| Candidate { address: addresses[index], vtable }));
    });
    look(memory, vtables, &candidates)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell as Counter;

    use super::*;

    #[test]
    fn known_tasks_are_followed_without_reading_them_again() {
        let cell = |address: u64, owner, next| Cell {
            address,
            vtable: 0,
            state: 64,
            owner,
            scheduler: 0,
            id: address,
            previous: 0,
            next,
            spawned_at: 0,
        };
        // A list, whose third task is new; one that leads into it; and a task of another runtime, which ends it.
        let all = [cell(1, 7, 2), cell(2, 7, 3), cell(3, 7, 4), cell(4, 7, 5), cell(5, 8, 6), cell(9, 7, 2)];
        let known = [1, 2, 4, 5].map(|address: u64| (address, all[address as usize - 1]));
        let reads = Counter::new(0);
        let read = |addresses: &[u64]| {
            reads.set(reads.get() + 1);
            all.into_iter().filter(|cell| addresses.contains(&cell.address)).collect()
        };
        let mut found: Vec<u64> =
            from(vec![(7, 1), (7, 9)], &HashMap::from(known), read).iter().map(|c| c.id).collect();
        found.sort_unstable();
        assert_eq!((found, reads.get()), (vec![1, 2, 3, 4, 9], 2));
    }
}
