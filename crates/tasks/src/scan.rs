//! Finds candidates for tasks: pointers to a task vtable at the place that a cell has for them.

use std::ops::Range;

use crate::cell::{ALIGNMENT, HEADER, Header};
use crate::vtables::TaskVtable;

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
    /// From the first to the last vtable of each image: most words are in none.
    ranges: Vec<Range<u64>>,
}

impl ByAddress {
    /// Sorts the vtables.
    #[must_use]
    pub fn new(vtables: &[TaskVtable]) -> ByAddress {
        let mut addresses: Vec<(u64, u32)> = vtables.iter().map(|vtable| vtable.address).zip(0..).collect();
        addresses.sort_unstable();
        let mut ranges: Vec<(usize, Range<u64>)> = Vec::new();
        for vtable in vtables {
            let own = vtable.address..vtable.address + 1;
            match ranges.iter_mut().find(|(image, _)| *image == vtable.image) {
                Some((_, range)) => *range = range.start.min(own.start)..range.end.max(own.end),
                None => ranges.push((vtable.image, own)),
            }
        }
        ByAddress { addresses, ranges: ranges.into_iter().map(|(_, range)| range).collect() }
    }

    /// Returns the place of the vtable at `address`.
    #[inline]
    #[must_use]
    pub fn get(&self, address: u64) -> Option<u32> {
        if !self.ranges.iter().any(|range| range.contains(&address)) {
            return None;
        }
        let index = self.addresses.binary_search_by_key(&address, |(address, _)| *address).ok()?;
        Some(self.addresses[index].1)
    }
}

/// Passes the candidates in `bytes`, which were read from `address`, to `take`. `address` is that of a page.
pub fn scan(vtables: &ByAddress, address: u64, bytes: &[u8], mut take: impl FnMut(Candidate)) {
    for (index, cell) in bytes.chunks_exact(ALIGNMENT).enumerate() {
        let Some(header) = Header::parse(&cell[..HEADER]) else { continue };
        if let Some(vtable) = vtables.get(header.vtable)
            && header.can_live()
        {
            take(Candidate { address: address + (index * ALIGNMENT) as u64, vtable });
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
        scan(&vtables, 0x10000, &page, |candidate| found.push(candidate.address));
        assert_eq!(found, [0x10000 + 256, 0x10000 + 3968]);
    }
}
