//! Asks the runtimes' lists about each cell, while the program changes them.
//!
//! A look at a cell reads the cell, then its neighbours, and both again. If the two readings agree and the neighbours
//! do not point to the cell, the look says "unlinked". If the readings differ, the look says nothing: the links of a
//! task that lives change, those of a freed cell do not.

use std::collections::{BTreeMap, HashSet};
use std::thread;
use std::time::Duration;

use super::links;
use super::look::{Cell, Followed, look};
use super::owners::{Owner, RuntimeFacts};
use crate::cell::{CANCELLED, COMPLETE, RUNNING};
use crate::memory::Memory;
use crate::owned::Ends;
use crate::scan::{ByAddress, Candidate};
use crate::vtables::TaskVtable;

/// Looks that must say that a task is unlinked.
const UNLINKED: u32 = 3;

/// Looks at most. Then a task is busy.
const LOOKS: u32 = 20;

/// Ends of lists whose links are held against the lists.
const ENDS: usize = 64;

/// Between two looks.
const PAUSE: Duration = Duration::from_millis(1);

/// The arguments of each look at cells.
pub struct Lists<'a> {
    pub memory: &'a (dyn Memory + Sync),
    pub vtables: &'a [TaskVtable],
    pub by_address: &'a ByAddress,
    pub owners: &'a BTreeMap<Owner, RuntimeFacts>,
}

/// Both readings of a look.
struct Reading<N> {
    /// In the order of their addresses.
    cells: Vec<Cell>,
    neighbours: N,
    ends: BTreeMap<Owner, Ends>,
}

impl<N: Fn(u64) -> Option<(u64, u64)>> Reading<N> {
    fn linked(&self, cell: &Cell) -> Option<bool> {
        let owner = Owner::of(cell)?;
        links::linked(cell, self.ends.get(&owner), &self.neighbours)
    }

    fn cell(&self, address: u64) -> Option<&Cell> {
        let index = self.cells.binary_search_by_key(&address, |cell| cell.address).ok()?;
        Some(&self.cells[index])
    }

    /// Everything that says whether a cell is linked.
    #[allow(clippy::type_complexity)] // compared only
    fn around(&self, cell: &Cell) -> (u64, u64, Option<(u64, u64)>, Option<(u64, u64)>) {
        (cell.previous, cell.next, (self.neighbours)(cell.previous), (self.neighbours)(cell.next))
    }
}

impl Lists<'_> {
    /// Finds out which cells are linked, and drops freed ones. `cells` are in the order of their addresses.
    pub fn follow(&self, cells: &[Cell]) -> Vec<Followed> {
        let mut followed = Vec::with_capacity(cells.len());
        let mut doubtful: Vec<(Candidate, u32)> = Vec::new();
        let ends = self.ends();
        // One reading is enough for a yes.
        for (index, cell) in cells.iter().enumerate() {
            let owner = Owner::of(cell);
            let near = |address| links::near(cells, index, address);
            let linked = owner.and_then(|owner| links::linked(cell, ends.get(&owner), near));
            match linked {
                // It has left its list for good.
                Some(false) if cell.state & COMPLETE != 0 && cell.previous | cell.next == 0 => {
                    followed.push((*cell, linked));
                }
                Some(false) => doubtful.push((cell.candidate(), 0)),
                None if owner.is_some() && self.knows_lists() && !may_be_unlinked(cell) => {}
                linked => followed.push((*cell, linked)),
            }
        }
        drop_copies(&mut doubtful, cells, &followed);
        for look in 1..=LOOKS {
            if doubtful.is_empty() {
                break;
            }
            thread::sleep(PAUSE);
            doubtful = self.look_again(&doubtful, look == LOOKS, &mut followed);
        }
        followed
    }

    /// Whether the links of the tasks at the ends of the lists lead into the lists. The program may be changing them: of several readings
    /// one is enough for a yes.
    pub fn agree(&self, cells: &[Cell]) -> bool {
        (0..LOOKS).any(|look| {
            if look > 0 {
                thread::sleep(PAUSE);
            }
            let ends = self.ends();
            let first: HashSet<u64> = ends.values().flat_map(|ends| &ends.first).copied().take(ENDS).collect();
            let is_last = |cell: &Cell| ends.values().any(|ends| ends.last.contains(&cell.address));
            let found = cells.iter().filter(|cell| first.contains(&cell.address)).map(Cell::candidate);
            let now = self.read(&found.collect::<Vec<_>>()).cells;
            let agrees = |cell: &&Cell| cell.previous == 0 && (cell.next == 0) == is_last(cell);
            // A task alone in its list has no links: zeros of other words would look the same.
            now.iter().filter(|cell| !is_last(cell)).any(|cell| agrees(&cell)) || now.iter().all(|cell| agrees(&cell))
        })
    }

    /// Looks at doubtful cells once more, and returns those that stay so. Each comes with the number of looks that said
    /// "unlinked".
    fn look_again(
        &self,
        doubtful: &[(Candidate, u32)],
        last: bool,
        followed: &mut Vec<Followed>,
    ) -> Vec<(Candidate, u32)> {
        let candidates: Vec<Candidate> = doubtful.iter().map(|(candidate, _)| *candidate).collect();
        let first = self.read(&candidates);
        let second = self.read(&candidates);
        let mut still = Vec::new();
        for (candidate, count) in doubtful {
            // A task that has ended meanwhile is missing.
            let Some(cell) = second.cell(candidate.address) else { continue };
            let Some(before) = first.cell(candidate.address) else { continue };
            let says = [first.linked(before), second.linked(cell)];
            let count = count + u32::from(first.around(before) == second.around(cell));
            if says.contains(&Some(true)) {
                followed.push((*cell, Some(true)));
            } else if says.contains(&None) {
                // It has no neighbours any more.
                if !self.knows_lists() || may_be_unlinked(cell) {
                    followed.push((*cell, None));
                }
            } else if count == UNLINKED {
                if may_be_unlinked(cell) {
                    followed.push((*cell, Some(false)));
                }
            } else if last {
                followed.push((*cell, None));
            } else {
                still.push((*candidate, count));
            }
        }
        still
    }

    fn read(&self, candidates: &[Candidate]) -> Reading<impl Fn(u64) -> Option<(u64, u64)> + use<>> {
        let cells = look(self.memory, self.vtables, candidates);
        let neighbours = links::neighbours(self.memory, self.vtables, self.by_address, &cells);
        Reading { cells, neighbours, ends: self.ends() }
    }

    fn ends(&self) -> BTreeMap<Owner, Ends> {
        let known = self.owners.iter();
        known.filter_map(|(owner, known)| Some((*owner, known.list.as_ref()?.ends(self.memory)?))).collect()
    }

    /// Whether the reader knows the lists of the program's version of tokio.
    fn knows_lists(&self) -> bool {
        self.owners.values().any(|known| known.list.is_some())
    }
}

/// Drops doubtful cells with the id of a task that is in a list, so that no time is spent on copies.
fn drop_copies(doubtful: &mut Vec<(Candidate, u32)>, cells: &[Cell], followed: &[Followed]) {
    if doubtful.is_empty() {
        return;
    }
    let linked = followed.iter().filter(|(_, linked)| *linked == Some(true));
    let linked: HashSet<(u32, u64)> = linked.map(|(cell, _)| (cell.vtable, cell.id)).collect();
    doubtful.retain(|(candidate, _)| {
        let index = cells.binary_search_by_key(&candidate.address, |cell| cell.address);
        index.is_ok_and(|index| !linked.contains(&(cells[index].vtable, cells[index].id)))
    });
}

/// Whether a task that lives can be in no list. The bits that must be set are 0 in an allocator's pointers and sizes.
fn may_be_unlinked(cell: &Cell) -> bool {
    // A complete task leaves its list. A runtime that shuts down takes tasks from its list, and a thread may still poll
    // one.
    cell.state & COMPLETE != 0 || cell.state & (RUNNING | CANCELLED) == RUNNING | CANCELLED
}
