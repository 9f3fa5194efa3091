//! Reads the cells of many tasks at about one time.

use crate::cell::Header;
use crate::cores;
use crate::memory::{Memory, Piece, word_at};
use crate::scan::Candidate;
use crate::vtables::TaskVtable;

/// Links of the runtime's list: the previous and the next task.
const LINKS: usize = 16;

/// Pieces of a cell: from its header to its id, or to the place that spawned it; its links, which follow the future.
const PIECES: usize = 2;

/// Tasks read at once, so that the lists of pieces stay small.
const AT_ONCE: usize = 1 << 14;

/// A task's cell, read once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cell {
    /// Of its header.
    pub address: u64,
    /// Its vtable's place among the program's.
    pub vtable: u32,
    /// Flags, and the count of references.
    pub state: u64,
    /// The runtime's number.
    pub owner: u64,
    /// The first word of the task's scheduler: for tasks that a runtime owns, the address of the runtime's handle.
    pub scheduler: u64,
    /// The task's id.
    pub id: u64,
    /// The task before it in its runtime's list, or 0.
    pub previous: u64,
    /// The task after it.
    pub next: u64,
    /// Where the place that spawned it is described, or 0.
    pub spawned_at: u64,
}

/// A cell, and whether its runtime's list contains it.
pub type Followed = (Cell, Option<bool>);

impl Cell {
    /// Returns the cell as [`look`] takes it, to be read again.
    #[must_use]
    pub fn candidate(&self) -> Candidate {
        Candidate { address: self.address, vtable: self.vtable }
    }
}

/// Reads the cells of `candidates`, in order. Leaves out those that are none of tasks that live: they have ended
/// meanwhile.
#[must_use]
pub fn look(memory: &(dyn Memory + Sync), vtables: &[TaskVtable], candidates: &[Candidate]) -> Vec<Cell> {
    let parts = cores::on_parts(candidates, AT_ONCE, |_, part| look_at(memory, vtables, part));
    cores::joined(parts)
}

fn look_at(memory: &dyn Memory, vtables: &[TaskVtable], candidates: &[Candidate]) -> Vec<Cell> {
    let mut cells = Vec::with_capacity(candidates.len());
    let mut pieces = Vec::new();
    for candidates in candidates.chunks(AT_ONCE) {
        pieces.clear();
        for candidate in candidates {
            let vtable = &vtables[candidate.vtable as usize];
            let at = |offset: u64| candidate.address.wrapping_add(offset);
            let front = usize::try_from(front_end(vtable)).unwrap_or(0);
            pieces.push(Piece { address: candidate.address, length: front });
            pieces.push(Piece { address: at(vtable.links), length: LINKS });
        }
        // Of the cell whose links arrive next.
        let mut front = None;
        memory.read_pieces(&pieces, &mut |index, bytes| {
            let candidate = &candidates[index / PIECES];
            let vtable = &vtables[candidate.vtable as usize];
            if index % PIECES == 0 {
                front = bytes.and_then(|bytes| Front::parse(vtable, bytes));
            } else if let (Some(front), Some(links)) = (front.take(), bytes) {
                cells.extend(cell(candidate, vtable, &front, links));
            }
        });
    }
    cells
}

/// The words of a cell before its future.
struct Front {
    header: Header,
    scheduler: u64,
    id: u64,
    spawned_at: u64,
}

impl Front {
    fn parse(vtable: &TaskVtable, bytes: &[u8]) -> Option<Front> {
        let word = |offset: u64| word_at(bytes, usize::try_from(offset).ok()?);
        Some(Front {
            header: Header::parse(bytes, &vtable.header)?,
            scheduler: word(vtable.scheduler)?,
            id: word(vtable.id)?,
            spawned_at: vtable.spawn_location.map_or(Some(0), word)?,
        })
    }
}

/// Returns where the words before the future end.
fn front_end(vtable: &TaskVtable) -> u64 {
    vtable.spawn_location.unwrap_or(vtable.id).saturating_add(8).max(vtable.header.length() as u64)
}

fn cell(candidate: &Candidate, vtable: &TaskVtable, front: &Front, links: &[u8]) -> Option<Cell> {
    let lives = front.header.vtable == vtable.address && front.header.can_live() && front.id != 0;
    let (previous, next) = (word_at(links, 0)?, word_at(links, 8)?);
    lives.then_some(Cell {
        address: candidate.address,
        vtable: candidate.vtable,
        state: front.header.state,
        owner: front.header.owner,
        scheduler: front.scheduler,
        id: front.id,
        previous,
        next,
        spawned_at: front.spawned_at,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::Unreadable;

    const AT: u64 = 0x1000;

    /// Cells of 0x100 bytes, the first at [`AT`]. Memory behind them cannot be read.
    struct Cells(Vec<u8>);

    impl Memory for Cells {
        fn read(&self, address: u64, bytes: &mut [u8]) -> Result<(), Unreadable> {
            let start = (address - AT) as usize;
            bytes.copy_from_slice(self.0.get(start..start + bytes.len()).ok_or(Unreadable { address })?);
            Ok(())
        }
    }

    fn forged(words: &[(usize, u64)]) -> Vec<u8> {
        let mut cell = vec![0; 0x100];
        for (offset, word) in words {
            cell[*offset..offset + 8].copy_from_slice(&word.to_le_bytes());
        }
        cell
    }

    #[test]
    fn reads_the_words_that_the_vtable_names() {
        let vtable = TaskVtable {
            links: 0xf0,
            scheduler: 0x40,
            id: 0x48,
            spawn_location: Some(0x50),
            ..TaskVtable::sample(0, 0x5000)
        };
        let words = [(0, 64), (0x10, 0x5000), (0x18, 1), (0x40, 2), (0x48, 3), (0x50, 4), (0xf0, 5), (0xf8, 6)];
        let lives = forged(&words);
        let mut without_id = words;
        without_id[4].1 = 0;
        let mut of_another_type = words;
        of_another_type[1].1 = 0x5050;
        let memory =
            Cells([lives, forged(&without_id), forged(&of_another_type), forged(&words)[..0xf8].to_vec()].concat());
        let candidates = [0, 1, 2, 3, 4].map(|index| Candidate { address: AT + index * 0x100, vtable: 0 });
        let expected = Cell {
            address: AT,
            vtable: 0,
            state: 64,
            owner: 1,
            scheduler: 2,
            id: 3,
            previous: 5,
            next: 6,
            spawned_at: 4,
        };
        assert_eq!(look(&memory, &[vtable], &candidates), [expected]);
    }
}
