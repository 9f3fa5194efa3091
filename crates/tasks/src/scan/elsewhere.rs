//! Cells of tasks whose headers or vtables have another layout than the reader takes them to have.
//!
//! Their words tell: a pointer to a vtable stands elsewhere in the cell, or leads to the words before a vtable, which are functions, too.

use super::ByAddress;
use crate::cell::{HeaderLayout, can_be_state};

/// Words of a cell that are looked at.
pub(super) const WORDS: usize = 8;

/// Words before a vtable to which a pointer may lead.
const BEFORE: usize = 3;

/// Bytes before a vtable to which a pointer may lead.
pub(super) const NEAR: u64 = (BEFORE as u64 - 1) * 8;

/// Counts of such cells: by the word that has the pointer, and by the number of words before the vtable to which it leads.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Elsewhere([[usize; BEFORE]; WORDS]);

impl Elsewhere {
    /// Adds a cell, if it can be one. A stack has pointers to vtables, too, but no state beside them.
    pub(super) fn add(&mut self, vtables: &ByAddress, words: &[u64; WORDS]) {
        for (place, word) in words.iter().enumerate() {
            let leads =
                |before: &usize| word.checked_add(*before as u64 * 8).is_some_and(|at| vtables.get(at).is_some());
            let has_state = || (0..WORDS).any(|other| other != place && can_be_state(words[other]));
            if let Some(before) = (0..BEFORE).find(leads)
                && has_state()
            {
                self.0[place][before] += 1;
            }
        }
    }

    /// Adds the counts of other memory.
    pub fn append(&mut self, others: &Elsewhere) {
        for (sums, counts) in self.0.iter_mut().zip(&others.0) {
            sums.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
        }
    }

    /// Names the fields that stand elsewhere, if more cells say so than the `found` ones that do not.
    #[must_use]
    pub fn told(&self, found: usize) -> Option<String> {
        let all = self.0.iter().enumerate().flat_map(|(place, counts)| {
            counts.iter().enumerate().map(move |(before, count)| (*count, place as u64 * 8, before))
        });
        let (count, place, before) = all.max_by_key(|(count, ..)| *count).filter(|(count, ..)| *count > found)?;
        let known = HeaderLayout::default().vtable;
        let mut fields = Vec::new();
        if place != known {
            fields.push(format!("`Header.vtable` at {place:#x} and not at {known:#x}"));
        }
        if before > 0 {
            fields.push(format!("`Vtable` with {} functions and not 7", 7 + before));
        }
        if fields.is_empty() {
            return None;
        }
        Some(format!(
            "another layout of tokio, by {count} cells: {}; build with `debug = 2`, or name the debug file by --debug",
            fields.join(", ")
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::super::scan;
    use super::*;
    use crate::vtables::TaskVtable;

    /// Pages with these words at the beginning of each cell.
    fn told(cells: &[&[u64]]) -> (usize, Option<String>) {
        let vtables = ByAddress::new(&[TaskVtable::sample(0, 0x5000)]);
        let mut page = vec![0; 4096];
        for (cell, words) in page.chunks_exact_mut(128).zip(cells) {
            for (bytes, word) in cell.chunks_exact_mut(8).zip(*words) {
                bytes.copy_from_slice(&word.to_le_bytes());
            }
        }
        let (mut elsewhere, mut found) = (Elsewhere::default(), 0);
        scan(&vtables, 0x10000, &page, &mut elsewhere, |_| found += 1);
        (found, elsewhere.told(found))
    }

    #[test]
    fn fields_that_stand_elsewhere_are_named() {
        let known: &[u64] = &[64, 0, 0x5000, 1];
        let moved: &[u64] = &[7, 64, 0, 0x5000, 1];
        let longer: &[u64] = &[64, 0, 0x4ff8, 1];
        let both: &[u64] = &[7, 64, 0, 0x4ff8, 1];
        assert_eq!(told(&[known, &[], known]), (2, None));
        assert_eq!(told(&[known, moved]), (1, None));
        let of = |cells: &[&[u64]]| told(cells).1.unwrap_or_default();
        assert!(of(&[moved]).contains("by 1 cells: `Header.vtable` at 0x18 and not at 0x10;"), "{}", of(&[moved]));
        assert!(of(&[longer]).contains(": `Vtable` with 8 functions and not 7;"), "{}", of(&[longer]));
        assert!(
            of(&[both, both, known]).contains("by 2 cells: `Header.vtable` at 0x18 and not at 0x10, `Vtable` with 8")
        );
        // Of a stack, and of a freed cell.
        assert_eq!(told(&[&[0x7fff_0000_0010, 0x5000, 0x7fff_0000_0020], &[0x1_0000_0000, 9, 0x5000]]), (0, None));
    }
}
