//! Drops copies of jobs that never ran. A cell is built on a stack and moved to the heap, and a copy of its bytes may stay anywhere. It
//! looks like a job that waits for a thread. But a job that waits is in the queue of the blocking pool, so a word points to it.

use std::collections::HashSet;
use std::ops::RangeInclusive;

use super::look::{Cell, Followed};
use crate::cell::{ALIGNMENT, COMPLETE, RUNNING};
use crate::error::Error;
use crate::memory::maps::Mapping;
use crate::memory::source::Present;

/// Drops jobs that wait and that no queue has. `pointed` returns those of these addresses to which words of the heap point. `again` reads a
/// cell once more.
pub fn drop_unqueued(
    cells: &mut Vec<Followed>,
    pointed: impl FnOnce(&HashSet<u64>) -> Result<HashSet<u64>, Error>,
    again: impl Fn(&Cell) -> Option<Cell>,
) -> Result<(), Error> {
    let waiting: HashSet<u64> = cells.iter().filter(|(cell, _)| waits(cell)).map(|(cell, _)| cell.address).collect();
    if waiting.is_empty() {
        return Ok(());
    }
    let queued = pointed(&waiting)?;
    cells.retain_mut(|(cell, _)| {
        if !waits(cell) || queued.contains(&cell.address) {
            return true;
        }
        // A thread may have taken it out of the queue meanwhile.
        let begun = again(cell).filter(|now| !waits(now));
        begun.inspect(|begun| *cell = *begun).is_some()
    });
    Ok(())
}

fn waits(cell: &Cell) -> bool {
    cell.owner == 0 && cell.state & (RUNNING | COMPLETE) == 0
}

/// Returns those of `addresses` to which words of `heaps` point.
pub fn pointed(present: &mut Present<'_>, heaps: &[&Mapping], addresses: &HashSet<u64>) -> Result<HashSet<u64>, Error> {
    let mut found = HashSet::new();
    let (Some(first), Some(last)) = (addresses.iter().min(), addresses.iter().max()) else { return Ok(found) };
    for heap in heaps {
        present.read(&heap.range, |_, bytes| among(bytes, &(*first..=*last), addresses, &mut found))?;
    }
    Ok(found)
}

fn among(bytes: &[u8], range: &RangeInclusive<u64>, addresses: &HashSet<u64>, found: &mut HashSet<u64>) {
    for word in bytes.as_chunks::<8>().0 {
        let word = u64::from_le_bytes(*word);
        if word % ALIGNMENT as u64 == 0 && range.contains(&word) && addresses.contains(&word) {
            found.insert(word);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::{JOIN_INTEREST, NOTIFIED};

    fn job(address: u64, state: u64) -> Cell {
        Cell { address, vtable: 0, state, owner: 0, scheduler: 0, id: address, previous: 0, next: 0, spawned_at: 0 }
    }

    #[test]
    fn of_jobs_that_wait_those_in_a_queue_or_that_begin_stay() {
        let initial = 3 << 6 | NOTIFIED | JOIN_INTEREST;
        let [queued, copy, begins, runs] = [job(1, initial), job(2, initial), job(3, initial), job(4, 64 | RUNNING)];
        let task = Cell { owner: 1, ..job(5, initial) };
        let mut cells = Vec::from([queued, copy, begins, runs, task].map(|cell| (cell, None)));
        let pointed = |waiting: &HashSet<u64>| {
            assert_eq!(*waiting, HashSet::from([1, 2, 3]));
            Ok(HashSet::from([1]))
        };
        let again = |cell: &Cell| Some(if *cell == begins { Cell { state: 64 | RUNNING, ..begins } } else { *cell });
        drop_unqueued(&mut cells, pointed, again).unwrap();
        let left: Vec<(u64, u64)> = cells.iter().map(|(cell, _)| (cell.address, cell.state)).collect();
        assert_eq!(left, [(1, initial), (3, 64 | RUNNING), (4, 64 | RUNNING), (5, initial)]);
    }

    #[test]
    fn words_that_point_to_a_job_are_found() {
        let addresses = HashSet::from([0x1000, 0x3000]);
        let words: Vec<u8> = [0x1000_u64, 0x2000, 0x3001, 0x1000].iter().flat_map(|word| word.to_le_bytes()).collect();
        let mut found = HashSet::new();
        among(&words, &(0x1000..=0x3000), &addresses, &mut found);
        assert_eq!(found, HashSet::from([0x1000]));
    }
}
