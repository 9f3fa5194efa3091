//! Whether tasks are in their runtime's list: their neighbours say so, and the list's ends.

use std::collections::HashMap;

use super::look::Cell;
use crate::memory::{Memory, Piece, word_at};
use crate::owned::Ends;
use crate::scan::ByAddress;
use crate::vtables::TaskVtable;

/// Finds out whether `cell` is linked. `None` if nothing says: its list is not known, and it has no neighbour.
///
/// `links` returns the previous and the next task of a neighbour.
#[must_use]
pub fn linked(cell: &Cell, ends: Option<&Ends>, links: impl Fn(u64) -> Option<(u64, u64)>) -> Option<bool> {
    if cell.previous | cell.next == 0 {
        // Its list's only task. Both ends change one after the other.
        return ends.map(|ends| ends.first.contains(&cell.address) || ends.last.contains(&cell.address));
    }
    let before = match cell.previous {
        0 => ends.map(|ends| ends.first.contains(&cell.address)),
        previous => Some(links(previous).is_some_and(|(_, next)| next == cell.address)),
    };
    let after = match cell.next {
        0 => ends.map(|ends| ends.last.contains(&cell.address)),
        next => Some(links(next).is_some_and(|(previous, _)| previous == cell.address)),
    };
    match (before, after) {
        (Some(before), Some(after)) => Some(before && after),
        // At an end of a list that is not known.
        (one, other) => one.or(other),
    }
}

/// Returns the links of a task among `cells`, which are in the order of their addresses.
#[must_use]
pub fn among(cells: &[Cell], address: u64) -> Option<(u64, u64)> {
    let index = cells.binary_search_by_key(&address, |cell| cell.address).ok()?;
    Some((cells[index].previous, cells[index].next))
}

/// The same for a neighbour of the task in place `index`. It is mostly beside it: lists are in the order of spawns, and so is memory that
/// allocators give.
#[must_use]
pub fn near(cells: &[Cell], index: usize, address: u64) -> Option<(u64, u64)> {
    let beside = [index.wrapping_sub(1), index + 1].into_iter().filter_map(|index| cells.get(index));
    let found = beside.into_iter().find(|cell| cell.address == address);
    found.map(|cell| (cell.previous, cell.next)).or_else(|| among(cells, address))
}

/// Reads the links of the neighbours of `cells` now.
pub fn neighbours(
    memory: &dyn Memory,
    vtables: &[TaskVtable],
    by_address: &ByAddress,
    cells: &[Cell],
) -> impl Fn(u64) -> Option<(u64, u64)> + use<> {
    let both = cells.iter().flat_map(|cell| [cell.previous, cell.next]);
    let mut addresses: Vec<u64> = both.filter(|address| *address != 0).collect();
    addresses.sort_unstable();
    addresses.dedup();
    let length = by_address.header();
    let headers: Vec<Piece> = addresses.iter().map(|address| Piece { address: *address, length }).collect();
    let mut trailers = Vec::new();
    memory.read_pieces(&headers, &mut |index, bytes| {
        // A neighbour that has ended meanwhile has no vtable.
        if let Some((_, vtable)) = bytes.and_then(|bytes| by_address.header_at(bytes)) {
            trailers.push((addresses[index], vtables[vtable as usize].links));
        }
    });
    let pieces: Vec<Piece> = trailers
        .iter()
        .map(|(address, trailer)| Piece { address: address.wrapping_add(*trailer), length: 16 })
        .collect();
    let mut found = HashMap::new();
    memory.read_pieces(&pieces, &mut |index, bytes| {
        if let Some(links) = bytes.and_then(|bytes| Some((word_at(bytes, 0)?, word_at(bytes, 8)?))) {
            found.insert(trailers[index].0, links);
        }
    });
    move |address| found.get(&address).copied()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn cell(address: u64, previous: u64, next: u64) -> Cell {
        Cell { address, vtable: 0, state: 64, owner: 1, scheduler: 0, id: address, previous, next, spawned_at: 0 }
    }

    #[test]
    fn neighbours_must_point_back() {
        let cells = [cell(0x100, 0, 0x200), cell(0x200, 0x100, 0x300), cell(0x300, 0x999, 0), cell(0x400, 0, 0)];
        for (index, address) in (0..4).flat_map(|index| [0x100, 0x200, 0x300, 0x400, 0x500].map(|at| (index, at))) {
            assert_eq!(near(&cells, index, address), among(&cells, address));
        }
        let of = |index: usize, ends| linked(&cells[index], ends, |address| among(&cells, address));
        let ends = Ends { first: HashSet::from([0x100]), last: HashSet::from([0x300]) };
        assert_eq!(of(0, Some(&ends)), Some(true));
        assert_eq!(of(0, None), Some(true));
        // Its next task does not point back.
        assert_eq!(of(1, Some(&ends)), Some(false));
        // Its previous task is none.
        assert_eq!(of(2, None), Some(false));
        assert_eq!(of(3, Some(&ends)), Some(false));
        assert_eq!(of(3, None), None);
    }

    #[test]
    fn the_only_task_of_a_list_is_both_its_ends() {
        let ends = Ends { first: HashSet::from([0x400]), last: HashSet::from([0x400]) };
        assert_eq!(linked(&cell(0x400, 0, 0), Some(&ends), |_| None), Some(true));
    }
}
