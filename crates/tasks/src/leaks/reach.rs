//! Follows the words of memory from block to block, as a conservative garbage collector does.

use std::collections::HashSet;

use super::heap::Heap;
use crate::memory::{Memory, Unreadable};

/// A block: its heap's place, and its own in the heap.
pub(super) type Block = (usize, usize);

/// Where a word is.
#[derive(Debug, Clone, Copy)]
pub(super) enum From {
    /// In a thread's registers, or on its stack.
    Stack,
    /// In other memory that is in no block.
    Memory,
    /// At this place of a heap.
    Block(usize, usize),
}

/// The heaps of a program at about one time, in the order of their addresses.
#[derive(Debug, Default)]
pub(super) struct Heaps(pub Vec<Heap>);

impl Heaps {
    /// Returns the block to which a word points.
    pub fn block(&self, word: u64) -> Option<Block> {
        let heap = self.0.partition_point(|heap| heap.start <= word).checked_sub(1)?;
        Some((heap, self.0[heap].block(word)?))
    }

    /// Returns the word at `address`.
    pub fn word(&self, address: u64) -> Option<u64> {
        let (heap, place) = self.place(address)?;
        Some(self.0[heap].words[place])
    }

    /// Clears a word that wakes nothing.
    pub fn clear(&mut self, address: u64, is_such: impl Fn(u64) -> bool) {
        if let Some((heap, place)) = self.place(address) {
            let word = &mut self.0[heap].words[place];
            if is_such(*word) {
                *word = 0;
            }
        }
    }

    fn place(&self, address: u64) -> Option<(usize, usize)> {
        let heap = self.0.partition_point(|heap| heap.start <= address).checked_sub(1)?;
        Some((heap, self.0[heap].place(address)?))
    }

    /// Returns the address of a block.
    pub fn address(&self, (heap, block): Block) -> u64 {
        self.0[heap].start + block as u64 * 8
    }

    /// Reaches all blocks to which `roots` lead. `live` says whether the word at an address of a block has a value; it is asked once for each
    /// block that would reach another one. `counts` says whether a word leads to the block at an address.
    pub fn reach<L: Fn(u64) -> bool>(
        &mut self,
        roots: impl IntoIterator<Item = (u64, From)>,
        live: impl Fn(&Heaps, u64) -> L,
        counts: impl Fn(&Heaps, u64, u64, &From) -> bool,
    ) {
        let mut open: Vec<Block> = Vec::new();
        for (root, from) in roots {
            let block = self.block(root).filter(|block| !self.is_reached(*block));
            if let Some(block) = block.filter(|block| counts(self, self.address(*block), root, &from)) {
                self.0[block.0].reach(block.1);
                open.push(block);
            }
            while let Some((heap, block)) = open.pop() {
                let begin = self.address((heap, block));
                let mut is_live = None;
                for place in block..block + self.0[heap].content(block).len() {
                    let word = self.0[heap].words[place];
                    let Some(led) = self.block(word).filter(|led| !self.is_reached(*led)) else { continue };
                    let at = begin + (place - block) as u64 * 8;
                    if is_live.get_or_insert_with(|| live(self, begin))(at)
                        && counts(self, self.address(led), word, &From::Block(heap, place))
                    {
                        self.0[led.0].reach(led.1);
                        open.push(led);
                    }
                }
            }
        }
    }

    pub fn is_reached(&self, (heap, block): Block) -> bool {
        self.0[heap].is_reached(block)
    }

    /// Returns the blocks that `from` leads to and that were not reached, `most` at most. Does not look into those of which `ends` is true.
    pub fn unreached(&self, from: Block, most: usize, ends: impl Fn(Block) -> bool) -> Vec<Block> {
        let mut found: Vec<Block> = Vec::new();
        let mut seen = HashSet::new();
        let mut next = Some(from);
        let mut looked = 0;
        while let Some((heap, block)) = next {
            for word in self.0[heap].content(block) {
                let Some(led) = self.block(*word).filter(|led| !self.is_reached(*led)) else { continue };
                if found.len() < most && seen.insert(led) {
                    found.push(led);
                }
            }
            next = loop {
                let candidate = found.get(looked).copied();
                looked += 1;
                if candidate.is_none_or(|block| !ends(block)) {
                    break candidate;
                }
            };
        }
        found
    }
}

impl Memory for Heaps {
    fn read(&self, address: u64, bytes: &mut [u8]) -> Result<(), Unreadable> {
        let (heap, place) = self.place(address).ok_or(Unreadable { address })?;
        let mut from =
            self.0[heap].words[place..].iter().flat_map(|word| word.to_le_bytes()).skip((address % 8) as usize);
        bytes.iter_mut().try_for_each(|byte| {
            *byte = from.next().ok_or(Unreadable { address })?;
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: u64 = 0x5555_5555_0000;

    /// Blocks of four words each, with these words.
    fn heaps(blocks: &[[u64; 3]]) -> Heaps {
        let mut words = Vec::from([0]);
        for [first, second, third] in blocks {
            words.extend([0x21, *first, *second, *third]);
        }
        words.extend([0x41, 0, 0, 0, 0, 0, 0]);
        Heaps(Vec::from([Heap::of(START, words, false).unwrap()]))
    }

    fn at(block: u64) -> u64 {
        START + 0x10 + block * 0x20
    }

    fn reached(heaps: &Heaps) -> Vec<u64> {
        (0..heaps.0[0].words.len() as u64 / 4 - 2)
            .filter(|block| heaps.is_reached(heaps.block(at(*block)).unwrap()))
            .collect()
    }

    #[test]
    fn what_roots_lead_to_is_reached() {
        // A cycle that a root leads to, one that nothing leads to, and a block that leads to both.
        let blocks = [[at(1), 0, 0], [7, at(0) + 8, 0], [0, 0, at(3)], [at(2), 0, 0], [at(0), at(2), 0]];
        let mut found = heaps(&blocks);
        let roots = [3, at(1) + 8].map(|root| (root, From::Memory));
        found.reach(roots, |_, _| |_| true, |_, _, _, _| true);
        assert_eq!(reached(&found), [0, 1]);
        let unreached = |from: u64, most| found.unreached(found.block(at(from)).unwrap(), most, |_| false);
        let places = |blocks: &[u64]| blocks.iter().map(|block| found.block(at(*block)).unwrap()).collect::<Vec<_>>();
        assert_eq!(unreached(4, 9), places(&[2, 3]));
        assert_eq!((unreached(4, 1), unreached(0, 9)), (places(&[2]), Vec::new()));
        assert_eq!(unreached(2, 9), places(&[3, 2]));
        let end = found.block(at(2)).unwrap();
        assert_eq!(found.unreached(found.block(at(4)).unwrap(), 9, |block| block == end), [end]);
    }

    #[test]
    fn words_that_do_not_count_do_not_lead_on() {
        let mut found = heaps(&[[at(1), at(2), at(3)], [0; 3], [0; 3], [0; 3]]);
        let live = |heaps: &Heaps, block| {
            assert_eq!((block, heaps.word(block)), (at(0), Some(at(1))));
            |word| word != at(0)
        };
        found.reach([(at(0), From::Stack)], live, |_, block, word, from| match from {
            From::Block(0, place) => (block, word, *place) != (at(3), at(3), 4),
            from => matches!(from, From::Stack),
        });
        assert_eq!(reached(&found), [0, 2]);
        found.clear(at(0), |word| word == 7);
        assert_eq!(found.word(at(0)), Some(at(1)));
        found.clear(at(0), |_| true);
        let mut bytes = [1; 4];
        assert_eq!((found.read(at(0) + 6, &mut bytes), bytes), (Ok(()), [0, 0, at(2) as u8, (at(2) >> 8) as u8]));
        assert!(found.read(START - 8, &mut bytes).is_err() && found.word(START + 0x1000).is_none());
    }
}
