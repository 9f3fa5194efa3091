//! Finds candidates for tasks: pointers to a task vtable at the place that a cell has for them.

use std::ops::Range;

use crate::cell::{ALIGNMENT, Header, HeaderLayout};
use crate::memory::word_at;
use crate::vtables::TaskVtable;

mod elsewhere;

pub use elsewhere::Elsewhere;
use elsewhere::{NEAR, WORDS};

/// A cell whose header can be that of a task that lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Candidate {
    /// Of its header.
    pub address: u64,
    /// Its vtable's place among the program's.
    pub vtable: u32,
}

/// Finds vtables by their address.
#[derive(Debug, Default)]
pub struct ByAddress {
    /// In order, with each vtable's place among the program's.
    addresses: Vec<(u64, u32)>,
    /// From before the first to behind the last vtable of each image: most words are in none.
    ranges: Vec<Range<u64>>,
    /// Where the vtables' tasks have their headers' words: one layout, unless images have several versions of tokio.
    layouts: Vec<HeaderLayout>,
    /// The layout of each of the program's vtables, by its place among these.
    layout: Vec<usize>,
}

impl ByAddress {
    /// Sorts the vtables.
    #[must_use]
    pub fn new(vtables: &[TaskVtable]) -> ByAddress {
        let mut found = ByAddress::default();
        found.addresses.extend(vtables.iter().map(|vtable| vtable.address).zip(0..));
        found.addresses.sort_unstable();
        let mut ranges: Vec<(usize, Range<u64>)> = Vec::new();
        for vtable in vtables {
            let own = vtable.address.saturating_sub(NEAR)..vtable.address.saturating_add(1);
            match ranges.iter_mut().find(|(image, _)| *image == vtable.image) {
                Some((_, range)) => *range = range.start.min(own.start)..range.end.max(own.end),
                None => ranges.push((vtable.image, own)),
            }
            let known = found.layouts.iter().position(|layout| *layout == vtable.header);
            found.layout.push(known.unwrap_or_else(|| {
                found.layouts.push(vtable.header);
                found.layouts.len() - 1
            }));
        }
        found.ranges = ranges.into_iter().map(|(_, range)| range).collect();
        found
    }

    /// Returns the place of the vtable at `address`.
    #[inline]
    #[must_use]
    pub fn get(&self, address: u64) -> Option<u32> {
        if !self.is_near(address) {
            return None;
        }
        let index = self.addresses.binary_search_by_key(&address, |(address, _)| *address).ok()?;
        Some(self.addresses[index].1)
    }

    /// Returns how many bytes of a header tell its vtable, at most.
    #[must_use]
    pub fn header(&self) -> usize {
        self.layouts.iter().map(HeaderLayout::length).max().unwrap_or(0)
    }

    /// Returns the header at the beginning of `bytes`, with the place of its vtable.
    #[must_use]
    pub fn header_at(&self, bytes: &[u8]) -> Option<(Header, u32)> {
        self.layouts.iter().enumerate().find_map(|(index, layout)| {
            let vtable = self.get(word_at(bytes, usize::try_from(layout.vtable).ok()?)?)?;
            let header = Header::parse(bytes, layout)?;
            (self.layout[vtable as usize] == index).then_some((header, vtable))
        })
    }

    #[inline]
    fn is_near(&self, address: u64) -> bool {
        self.ranges.iter().any(|range| range.contains(&address))
    }
}

/// Passes the candidates in `bytes`, which were read from `address`, to `take`. `address` is that of a page. Adds cells of other layouts
/// to `elsewhere`.
pub fn scan(
    vtables: &ByAddress,
    address: u64,
    bytes: &[u8],
    elsewhere: &mut Elsewhere,
    mut take: impl FnMut(Candidate),
) {
    for (index, cell) in bytes.chunks_exact(ALIGNMENT).enumerate() {
        let words = || cell[..WORDS * 8].as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word));
        if !words().any(|word| vtables.is_near(word)) {
            continue;
        }
        match vtables.header_at(cell) {
            Some((header, vtable)) if header.can_live() => {
                take(Candidate { address: address + (index * ALIGNMENT) as u64, vtable });
            }
            Some(_) => {}
            None => elsewhere.add(vtables, &std::array::from_fn(|index| word_at(cell, index * 8).unwrap_or(0))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_vtables_of_several_images() {
        let vtables = ByAddress::new(&[
            TaskVtable::sample(0, 0x5050),
            TaskVtable::sample(1, 0x9000),
            TaskVtable::sample(0, 0x5000),
        ]);
        assert_eq!(vtables.get(0x5050), Some(0));
        assert_eq!(vtables.get(0x9000), Some(1));
        assert_eq!(vtables.get(0x5000), Some(2));
        assert_eq!((vtables.get(0x5028), vtables.get(0x6000)), (None, None));
    }

    #[test]
    fn finds_headers_at_aligned_places_only() {
        let vtables = ByAddress::new(&[TaskVtable::sample(0, 0x5000)]);
        let mut page = vec![0; 4096];
        for at in [256, 1032, 3968] {
            for (index, word) in [64_u64, 0, 0x5000, 1].iter().enumerate() {
                page[at + index * 8..][..8].copy_from_slice(&word.to_le_bytes());
            }
        }
        let mut found = Vec::new();
        scan(&vtables, 0x10000, &page, &mut Elsewhere::default(), |candidate| found.push(candidate.address));
        assert_eq!(found, [0x10000 + 256, 0x10000 + 3968]);
    }
}
