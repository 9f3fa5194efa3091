//! Which task a thread polls: its poll function is on the stack, and so is its cell's address.

use std::ops::Range;

use object::Object;

use super::registers::Registers;
use crate::calls::jump;
use crate::cell::{ALIGNMENT, RUNNING};
use crate::elf::Elf;
use crate::image::Image;
use crate::memory::{Memory, Piece};
use crate::scan::ByAddress;
use crate::vtables::TaskVtable;

/// Addresses looked at while a thread is held, at most.
const MOST: usize = 1024;

/// Functions that a poll function leads to, at most, with itself.
const JUMPS: usize = 3;

/// The cell of a task that some thread polls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Cell {
    pub address: u64,
    /// Its vtable's place among the program's.
    pub vtable: usize,
    pub id: u64,
    /// The runtime's number; 0 for jobs of the blocking pool.
    pub owner: u64,
    /// The lowest place on the stack that has the address; 0 for a register.
    pub at: u64,
}

/// Where cells can be.
pub(super) struct Heaps<'a> {
    pub vtables: &'a [TaskVtable],
    pub by_address: &'a ByAddress,
    /// In order.
    pub ranges: &'a [Range<u64>],
}

/// Finds cells of running tasks by the words of a stack that was read from `address`.
pub(super) fn cells(
    memory: &dyn Memory,
    heaps: &Heaps<'_>,
    registers: &Registers,
    address: u64,
    stack: &[u8],
) -> Vec<Cell> {
    // Its own frames can look like cells: they have copies of headers.
    let frames = address..address.saturating_add(stack.len() as u64);
    let can_be = |word: u64| heaps.can_have(word) && !frames.contains(&word);
    let mut found: Vec<(u64, u64)> =
        registers.all.iter().filter(|word| can_be(**word)).map(|word| (*word, 0)).collect();
    for (index, word) in stack.chunks_exact(8).enumerate() {
        let word = u64::from_le_bytes(word.try_into().unwrap_or_default());
        if can_be(word) {
            found.push((word, address + index as u64 * 8));
        }
    }
    found.sort_unstable();
    found.dedup_by_key(|(word, _)| *word);
    found.truncate(MOST);
    let length = heaps.by_address.header();
    let pieces: Vec<Piece> = found.iter().map(|(word, _)| Piece { address: *word, length }).collect();
    let mut cells = Vec::new();
    memory.read_pieces(&pieces, &mut |index, header| {
        if let Some((header, vtable)) = header.and_then(|header| heaps.by_address.header_at(header))
            && header.state & RUNNING != 0
        {
            let (address, at) = found[index];
            cells.push(Cell { address, vtable: vtable as usize, id: 0, owner: header.owner, at });
        }
    });
    cells.retain_mut(|cell| {
        let id = cell.address.checked_add(heaps.vtables[cell.vtable].id).and_then(|at| memory.word(at).ok());
        cell.id = id.unwrap_or(0);
        id.is_some()
    });
    cells
}

impl Heaps<'_> {
    fn can_have(&self, word: u64) -> bool {
        // Few words pass this line.
        if word == 0 || !word.is_multiple_of(ALIGNMENT as u64) {
            return false;
        }
        let after = self.ranges.partition_point(|range| range.start <= word);
        after > 0 && self.ranges[after - 1].contains(&word)
    }
}

/// The functions that poll tasks, in the process, with their vtables' places among the program's.
///
/// In optimised programs a vtable's poll function can be a jump to the one that stays on the stack.
pub(super) fn functions(memory: &dyn Memory, vtables: &[TaskVtable], images: &[Image]) -> Vec<(u64, usize)> {
    let mut functions = Vec::new();
    for (index, vtable) in vtables.iter().enumerate() {
        let image = &images[vtable.image];
        let Some(architecture) = Elf::parse(image.bytes()).ok().map(|elf| elf.architecture()) else { continue };
        let mut function = vtable.poll.wrapping_add(image.bias);
        for _ in 0..JUMPS {
            functions.push((function, index));
            let mut code = [0; 16];
            let jump = memory.read(function, &mut code).ok().and_then(|()| jump(architecture, function, &code));
            let Some(target) = jump.filter(|target| image.has_code(*target)) else { break };
            function = target;
        }
    }
    functions
}

/// Returns the one cell among those of `vtables` below `end` on the stack. `None` if there are several.
pub(super) fn only<'c>(cells: &'c [Cell], vtables: &[usize], end: u64) -> Option<&'c Cell> {
    let mut fitting = cells.iter().filter(|cell| vtables.contains(&cell.vtable) && cell.at < end);
    let first = fitting.next()?;
    fitting.next().is_none().then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(address: u64, vtable: usize, at: u64) -> Cell {
        Cell { address, vtable, id: address, owner: 1, at }
    }

    #[test]
    fn several_possible_tasks_are_none() {
        let cells = [cell(0x80, 0, 0x1000), cell(0x100, 0, 0x3000), cell(0x180, 1, 0x1000)];
        assert_eq!(only(&cells, &[0], 0x2000).map(|cell| cell.id), Some(0x80));
        assert_eq!(only(&cells, &[0], 0x4000), None);
        assert_eq!(only(&cells, &[2], 0x4000), None);
    }
}
