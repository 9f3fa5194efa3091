//! Tells jobs of the blocking pool, which no runtime owns, from other cells without an owner.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::contain;
use super::look::Cell;
use crate::error::Error;
use crate::memory::maps::Mapping;
use crate::memory::resident::Resident;
use crate::memory::stacks;
use crate::vtables::TaskVtable;

/// Drops cells without an owner that are no jobs. `stacks` returns, in order, the stacks among the mappings that contain
/// the cells that it is given.
pub fn keep(
    cells: &mut Vec<Cell>,
    vtables: &[TaskVtable],
    stacks: impl FnOnce(&[u64]) -> Result<Vec<Range<u64>>, Error>,
) -> Result<(), Error> {
    let scheduler = |cell: &Cell| {
        let vtable = &vtables[cell.vtable as usize];
        (vtable.image, vtable.schedule)
    };
    // A task gets its owner at once after it reached the heap, so a task of these schedulers without one is a copy or new.
    let owning: HashSet<(usize, u64)> = cells.iter().filter(|cell| cell.owner != 0).map(scheduler).collect();
    cells.retain(|cell| cell.owner != 0 || !owning.contains(&scheduler(cell)));
    let jobs: Vec<u64> = cells.iter().filter(|cell| cell.owner == 0).map(|cell| cell.address).collect();
    if !jobs.is_empty() {
        let stacks = stacks(&jobs)?;
        cells.retain(|cell| cell.owner != 0 || !contain(&stacks, cell.address));
    }
    Ok(())
}

/// Finds the stacks in those mappings of `heaps` that contain one of `cells`, which are in order.
pub fn stacks(resident: &mut Resident<'_>, heaps: &[&Mapping], cells: &[u64]) -> Result<Vec<Range<u64>>, Error> {
    let mut found = Vec::new();
    for heap in heaps {
        // The C library takes no stack from there.
        if heap.path == "[heap]" {
            continue;
        }
        let first = cells.partition_point(|cell| *cell < heap.range.start);
        if cells.get(first).is_some_and(|cell| heap.range.contains(cell)) {
            // A stack's descriptor lies above all of its cells.
            let above = cells[first]..heap.range.end;
            let above = above.start & !4095..above.end;
            resident.read(&above, |address, bytes| stacks::find(address, bytes, &mut found))?;
        }
    }
    found.sort_unstable_by_key(|stack| stack.start);
    Ok(apart(found))
}

/// Joins ranges that overlap; they are in the order of their beginnings.
fn apart(ranges: Vec<Range<u64>>) -> Vec<Range<u64>> {
    let mut joined: Vec<Range<u64>> = Vec::new();
    for range in ranges {
        match joined.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => joined.push(range),
        }
    }
    joined
}

/// Drops all but one cell of each id and future, since tokio gives each id once: the others are copies. Two versions of tokio
/// in one program count apart, with futures of their own.
pub fn drop_copies(cells: &mut Vec<Cell>) {
    // Of two jobs, the one at the lower address: stacks are mapped high.
    let mut chosen: HashMap<(u32, u64), (bool, u64)> = HashMap::new();
    let mut repeated = false;
    for cell in cells.iter() {
        let rank = (cell.owner == 0, cell.address);
        chosen
            .entry((cell.vtable, cell.id))
            .and_modify(|chosen| {
                repeated = true;
                *chosen = rank.min(*chosen);
            })
            .or_insert(rank);
    }
    if repeated {
        cells.retain(|cell| {
            cell.owner != 0 || chosen.get(&(cell.vtable, cell.id)).is_none_or(|(_, address)| *address == cell.address)
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::listing::Name;

    fn cell(address: u64, vtable: u32, owner: u64, id: u64) -> Cell {
        Cell { address, vtable, state: 64, owner, scheduler: 0, id, previous: 0, next: 0, spawned_at: 0 }
    }

    fn vtable(schedule: u64) -> TaskVtable {
        TaskVtable {
            image: 0,
            address: 0,
            poll: 0,
            schedule,
            dealloc: 0,
            trailer: 0x80,
            scheduler: 0x20,
            id: 0x28,
            spawn_location: None,
            name: Name::Address { poll: 0 },
        }
    }

    fn addresses(cells: &[Cell]) -> Vec<u64> {
        cells.iter().map(|cell| cell.address).collect()
    }

    #[test]
    fn a_cell_without_owner_is_a_job_only_if_its_scheduler_owns_nothing() {
        let vtables = [vtable(1), vtable(1), vtable(2)];
        let stack = 0x8000..0xa000;
        let mut cells = vec![cell(0x100, 0, 1, 1), cell(0x200, 1, 0, 2), cell(0x300, 2, 0, 3), cell(0x9000, 2, 0, 4)];
        keep(&mut cells, &vtables, |jobs| {
            assert_eq!(jobs, [0x300, 0x9000]);
            Ok(Vec::from_iter([stack]))
        })
        .unwrap();
        assert_eq!(addresses(&cells), [0x100, 0x300]);
    }

    #[test]
    fn of_two_cells_with_one_id_the_owned_one_is_the_task() {
        let mut cells = vec![cell(0x100, 0, 0, 1), cell(0x200, 0, 1, 1), cell(0x300, 0, 0, 2), cell(0x400, 0, 0, 2)];
        drop_copies(&mut cells);
        assert_eq!(addresses(&cells), [0x200, 0x300]);
    }

    #[test]
    fn ranges_that_overlap_are_joined() {
        let joined = apart(vec![1..5, 3..4, 5..6, 8..9]);
        assert_eq!(joined, [1..6, 8..9]);
        assert!(contain(&joined, 5) && contain(&joined, 8));
        assert!(!contain(&joined, 6) && !contain(&joined, 0) && !contain(&joined, 9));
    }
}
