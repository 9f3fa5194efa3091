//! Reads the cells of many tasks at about one time.

use crate::cell::{HEADER, Header};
use crate::memory::{Memory, Piece, word_at};
use crate::scan::Candidate;
use crate::vtables::TaskVtable;

/// Links of the runtime's list: the previous and the next task.
const LINKS: usize = 16;

/// Pieces of a cell: its header; from the scheduler to the id, or to the place that spawned it; its links.
const PIECES: usize = 3;

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

impl Cell {
    /// Returns the cell as [`look`] takes it, to be read again.
    #[must_use]
    pub fn candidate(&self) -> Candidate {
        Candidate { address: self.address, vtable: self.vtable, owner: self.owner }
    }
}

/// Reads the cells of `candidates`, in order. Leaves out those that are none of tasks that live: they have ended meanwhile.
#[must_use]
pub fn look(memory: &dyn Memory, vtables: &[TaskVtable], candidates: &[Candidate]) -> Vec<Cell> {
    let mut cells = Vec::with_capacity(candidates.len());
    let mut pieces = Vec::new();
    for candidates in candidates.chunks(AT_ONCE) {
        pieces.clear();
        for candidate in candidates {
            let vtable = &vtables[candidate.vtable as usize];
            let at = |offset: u64| candidate.address.wrapping_add(offset);
            let core = core_end(vtable).wrapping_sub(vtable.scheduler);
            pieces.push(Piece { address: candidate.address, length: HEADER });
            pieces.push(Piece { address: at(vtable.scheduler), length: usize::try_from(core).unwrap_or(0) });
            pieces.push(Piece { address: at(vtable.trailer), length: LINKS });
        }
        // Of the cell whose pieces are arriving.
        let mut header = None;
        let mut core = None;
        memory.read_pieces(&pieces, &mut |index, bytes| {
            let candidate = &candidates[index / PIECES];
            match index % PIECES {
                0 => header = bytes.and_then(Header::parse),
                1 => core = bytes.and_then(|bytes| Core::parse(&vtables[candidate.vtable as usize], bytes)),
                _ => {
                    let links = bytes.and_then(|bytes| Some((word_at(bytes, 0)?, word_at(bytes, 8)?)));
                    let vtable = &vtables[candidate.vtable as usize];
                    cells.extend(cell(candidate, vtable, header.take(), core.take(), links));
                }
            }
        });
    }
    cells
}

/// What stands between a cell's header and its future.
struct Core {
    scheduler: u64,
    id: u64,
    spawned_at: u64,
}

impl Core {
    /// Parses `bytes`, which were read from the scheduler on.
    fn parse(vtable: &TaskVtable, bytes: &[u8]) -> Option<Core> {
        let word = |offset: u64| word_at(bytes, usize::try_from(offset.checked_sub(vtable.scheduler)?).ok()?);
        Some(Core {
            scheduler: word(vtable.scheduler)?,
            id: word(vtable.id)?,
            spawned_at: vtable.spawn_location.map_or(Some(0), word)?,
        })
    }
}

/// Returns where the words before the future end.
fn core_end(vtable: &TaskVtable) -> u64 {
    vtable.spawn_location.unwrap_or(vtable.id).saturating_add(8)
}

fn cell(
    candidate: &Candidate,
    vtable: &TaskVtable,
    header: Option<Header>,
    core: Option<Core>,
    links: Option<(u64, u64)>,
) -> Option<Cell> {
    let (header, core, (previous, next)) = (header?, core?, links?);
    let lives = header.vtable == vtable.address && header.can_live() && core.id != 0;
    lives.then_some(Cell {
        address: candidate.address,
        vtable: candidate.vtable,
        state: header.state,
        owner: header.owner,
        scheduler: core.scheduler,
        id: core.id,
        previous,
        next,
        spawned_at: core.spawned_at,
    })
}
