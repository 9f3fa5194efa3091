//! Drops copies of cells on stacks, where cells are built.

use std::collections::HashSet;
use std::ops::Range;

use super::look::{Cell, Followed};
use crate::error::Error;
use crate::memory::maps::Mapping;
use crate::memory::source::Present;
use crate::memory::stacks;
use crate::vtables::TaskVtable;

/// Drops cells without an owner that are no jobs of the blocking pool. A task gets its owner at once after it reached
/// the heap, so one without is a copy, or is being spawned.
pub fn drop_unowned(cells: &mut Vec<Cell>, vtables: &[TaskVtable]) {
    let scheduler = |vtable: u32| {
        let vtable = &vtables[vtable as usize];
        (vtable.image, vtable.schedule)
    };
    let mut owned = vec![false; vtables.len()];
    cells.iter().filter(|cell| cell.owner != 0).for_each(|cell| owned[cell.vtable as usize] = true);
    let owning: HashSet<(usize, u64)> =
        (0..).zip(owned).filter(|(_, owned)| *owned).map(|(vtable, _)| scheduler(vtable)).collect();
    cells.retain(|cell| cell.owner != 0 || !owning.contains(&scheduler(cell.vtable)));
}

/// Drops cells on stacks. A cell that its runtime's list contains is on none. `stacks` returns, in order, the stacks
/// among the mappings that contain the addresses that it is given, which are in order, too.
pub fn drop_on_stacks(
    cells: &mut Vec<Followed>,
    stacks: impl FnOnce(&[u64]) -> Result<Vec<Range<u64>>, Error>,
) -> Result<(), Error> {
    let mut doubtful: Vec<u64> =
        cells.iter().filter(|(_, linked)| *linked != Some(true)).map(|(cell, _)| cell.address).collect();
    if !doubtful.is_empty() {
        doubtful.sort_unstable();
        let stacks = stacks(&doubtful)?;
        cells.retain(|(cell, linked)| *linked == Some(true) || !contain(&stacks, cell.address));
    }
    Ok(())
}

/// Finds the stacks in those mappings of `heaps` that contain one of `cells`, which are in order.
pub fn stacks(present: &mut Present<'_>, heaps: &[&Mapping], cells: &[u64]) -> Result<Vec<Range<u64>>, Error> {
    let mut found = present.stacks();
    for heap in heaps {
        // The C library takes no stack from there.
        if &*heap.path == "[heap]" {
            continue;
        }
        let first = cells.partition_point(|cell| *cell < heap.range.start);
        if cells.get(first).is_some_and(|cell| heap.range.contains(cell)) {
            // A stack's descriptor lies above all of its cells.
            let above = cells[first]..heap.range.end;
            let above = above.start & !4095..above.end;
            present.read(&above, |address, bytes| stacks::find(address, bytes, &mut found))?;
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

/// Whether `ranges`, in order and apart from each other, contain `address`.
fn contain(ranges: &[Range<u64>], address: u64) -> bool {
    let index = ranges.partition_point(|range| range.end <= address);
    ranges.get(index).is_some_and(|range| range.contains(&address))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(address: u64, vtable: u32, owner: u64, id: u64) -> Cell {
        Cell { address, vtable, state: 64, owner, scheduler: 0, id, previous: 0, next: 0, spawned_at: 0 }
    }

    fn vtable(schedule: u64) -> TaskVtable {
        TaskVtable { schedule, ..TaskVtable::sample(0, 0) }
    }

    fn addresses<'a>(cells: impl IntoIterator<Item = &'a Cell>) -> Vec<u64> {
        cells.into_iter().map(|cell| cell.address).collect()
    }

    #[test]
    fn a_cell_without_owner_is_a_job_only_if_its_scheduler_owns_nothing() {
        let vtables = [vtable(1), vtable(1), vtable(2)];
        let mut cells = vec![cell(0x100, 0, 1, 1), cell(0x200, 1, 0, 2), cell(0x300, 2, 0, 3)];
        drop_unowned(&mut cells, &vtables);
        assert_eq!(addresses(&cells), [0x100, 0x300]);
    }

    #[test]
    fn of_cells_on_stacks_only_those_in_a_list_are_tasks() {
        let stack = 0x8000..0xa000;
        let mut cells = vec![
            (cell(0x9000, 2, 0, 1), None),
            (cell(0x9100, 2, 1, 2), Some(true)),
            (cell(0x9200, 2, 1, 3), Some(false)),
            (cell(0x300, 2, 0, 4), None),
        ];
        let stacks = |doubtful: &[u64]| {
            assert_eq!(doubtful, [0x300, 0x9000, 0x9200]);
            Ok(Vec::from_iter([stack]))
        };
        drop_on_stacks(&mut cells, stacks).unwrap();
        assert_eq!(addresses(cells.iter().map(|(cell, _)| cell)), [0x9100, 0x300]);
    }

    #[test]
    fn ranges_that_overlap_are_joined() {
        let joined = apart(vec![1..5, 3..4, 5..6, 8..9]);
        assert_eq!(joined, [1..6, 8..9]);
        assert!(contain(&joined, 5) && contain(&joined, 8));
        assert!(!contain(&joined, 6) && !contain(&joined, 0) && !contain(&joined, 9));
    }
}
