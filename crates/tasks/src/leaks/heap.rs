//! A copy of one heap of glibc's allocator, and its blocks: each has its size before it, so that they are walked one after the other.

use std::ops::Range;

/// Heaps that glibc maps for further threads begin at multiples of this.
pub(super) const ALIGNED: u64 = 64 << 20;

/// In the word with a block's size: the block before is in use; the block has a mapping of its own; it is of a further heap.
const PREVIOUS_IN_USE: u64 = 1;
const MAPPED: u64 = 2;
const FURTHER: u64 = 4;
const FLAGS: u64 = 15;

/// The smallest block with its size.
const SMALLEST: u64 = 0x20;

/// A thread's list of freed blocks: the size of its block, and its 16-bit counts, one for each size of blocks. As many addresses follow.
const FREED: u64 = 0x290;
const SIZES: usize = 64;

/// Where the first block of a further heap can be, in words: behind the heap's own words, and in the first heap of an arena behind the
/// arena's words.
const FIRSTS: [Range<usize>; 2] = [4..8, 0x860 / 8..0x900 / 8];

/// Where the values are in a block whose addresses may have a tag in the lowest three bits: of a `Box`, and of an `Arc`.
const TAGGED: [u64; 2] = [0, 16];

/// The words of a heap at one time, and which of its blocks were reached.
#[derive(Debug)]
pub(super) struct Heap {
    pub start: u64,
    pub words: Vec<u64>,
    /// A bit for each 16 bytes: a block in use begins there, behind its size.
    begins: Vec<u64>,
    /// For each word of `begins`, the last one up to it that has a bit.
    last: Vec<u32>,
    reached: Vec<u64>,
}

impl Heap {
    /// Walks the blocks of a heap, of which `words` is a copy. `None` if they do not end where the heap ends.
    pub fn of(start: u64, words: Vec<u64>, is_further: bool) -> Option<Heap> {
        let firsts = if is_further { FIRSTS } else { [0..1, 0..0] };
        let begins = firsts.into_iter().flatten().step_by(2).find_map(|first| walk(&words, first, is_further))?;
        let mut last = Vec::with_capacity(begins.len());
        let mut latest = 0;
        for (index, bits) in (0..).zip(&begins) {
            latest = if *bits == 0 { latest } else { index };
            last.push(latest);
        }
        let reached = vec![0; begins.len()];
        let mut heap = Heap { start, words, begins, last, reached };
        heap.forget_freed();
        Some(heap)
    }

    /// Returns the block, by the place of its first word, to which `word` points: to its beginning or into it.
    pub fn block(&self, word: u64) -> Option<usize> {
        let sixteenth = usize::try_from(word.checked_sub(self.start)? / 16).ok()?;
        let (index, bit) = (sixteenth / 64, sixteenth % 64);
        let bits = self.begins.get(index)? & (u64::MAX >> (63 - bit));
        let (index, bits) = match bits {
            0 => {
                let before = self.last[index.checked_sub(1)?] as usize;
                (before, self.begins[before])
            }
            bits => (index, bits),
        };
        let begin = index * 64 + 63usize.checked_sub(bits.leading_zeros() as usize)?;
        let block = begin * 2;
        let offset = word - self.start - block as u64 * 8;
        let may_lead = offset.is_multiple_of(8) || TAGGED.contains(&(offset & !7));
        (may_lead && offset / 8 < self.length(block) as u64).then_some(block)
    }

    /// Returns the words of a block.
    pub fn content(&self, block: usize) -> &[u64] {
        &self.words[block..block + self.length(block)]
    }

    fn length(&self, block: usize) -> usize {
        // A block has the first word of the next one, too.
        (self.words[block - 1] & !FLAGS) as usize / 8 - 1
    }

    /// Returns the place of the word at `address`.
    pub fn place(&self, address: u64) -> Option<usize> {
        let place = usize::try_from(address.checked_sub(self.start)? / 8).ok()?;
        (place < self.words.len()).then_some(place)
    }

    /// Marks a block as reached. Returns whether it was not before.
    pub fn reach(&mut self, block: usize) -> bool {
        let (index, bit) = (block / 128, 1 << (block / 2 % 64));
        let is_new = self.reached[index] & bit == 0;
        self.reached[index] |= bit;
        is_new
    }

    pub fn is_reached(&self, block: usize) -> bool {
        self.reached[block / 128] & 1 << (block / 2 % 64) != 0
    }

    /// Clears the threads' lists of freed blocks: nothing reads what was left in these blocks.
    fn forget_freed(&mut self) {
        for index in 0..self.begins.len() {
            let mut bits = self.begins[index];
            while bits != 0 {
                let block = (index * 64 + bits.trailing_zeros() as usize) * 2;
                bits &= bits - 1;
                if self.words[block - 1] & !FLAGS == FREED && self.is_list_of_freed(self.content(block)) {
                    self.words[block..block + SIZES / 4 + SIZES].fill(0);
                }
            }
        }
    }

    /// Whether each count of a size fits the address of its first freed block.
    fn is_list_of_freed(&self, words: &[u64]) -> bool {
        let count = |size: usize| words[size / 4] >> (size % 4 * 16) & 0xffff;
        words[SIZES / 4..SIZES / 4 + SIZES]
            .iter()
            .enumerate()
            .all(|(size, first)| (count(size) == 0) == (*first == 0) && first % 16 == 0 && count(size) < 1 << 12)
    }
}

/// Walks from the block whose header is at `first` to the end. Returns the bits of the blocks in use.
fn walk(words: &[u64], first: usize, is_further: bool) -> Option<Vec<u64>> {
    let mut begins = vec![0; words.len().div_ceil(128)];
    let mut at = first;
    loop {
        let size = *words.get(at + 1)?;
        let bytes = size & !FLAGS;
        if size & (MAPPED | 8) != 0 || (size & FURTHER != 0 && !is_further) {
            return None;
        }
        if bytes < SMALLEST {
            // The last words of a heap behind which another one was added.
            return (at + 4 >= words.len()).then_some(begins);
        }
        let next = at.checked_add(usize::try_from(bytes / 8).ok()?)?;
        if next >= words.len() {
            // The rest of the heap, which no block has.
            return (next == words.len()).then_some(begins);
        }
        if words.get(next + 1)? & PREVIOUS_IN_USE != 0 {
            // Free blocks do not have the flag.
            if is_further && size & FURTHER == 0 {
                return None;
            }
            let sixteenth = at / 2 + 1;
            begins[sixteenth / 64] |= 1 << (sixteenth % 64);
        }
        at = next;
    }
}

/// The heap that glibc has mapped at `address`, a multiple of [`ALIGNED`], by its first words.
pub(super) fn further(address: u64, words: [u64; 3]) -> Option<Range<u64>> {
    let [arena, _, size] = words;
    let is_arena = arena & !(ALIGNED - 1) != 0 && matches!(arena & (ALIGNED - 1), 0x20 | 0x30);
    (is_arena && size.is_multiple_of(4096) && (4096..=ALIGNED).contains(&size)).then(|| address..address + size)
}

/// Clears the lists of free blocks of glibc's first arena among words that were read from `address`. Lists that are empty lead to
/// themselves, as if each were a block; `is_heap` says whether a word leads into the first heap.
pub(super) fn forget_free(address: u64, words: &mut [u64], is_heap: impl Fn(u64) -> bool) {
    /// Lists, of which few have blocks.
    const LISTS: usize = 127;
    let is_empty = |words: &[u64], at: usize| {
        let itself = address + at as u64 * 8 - 16;
        words[at] == itself && words.get(at + 1) == Some(&itself)
    };
    let mut at = 0;
    while at < words.len() {
        if !is_empty(words, at) {
            at += 1;
            continue;
        }
        let is_list = |at: usize| {
            is_empty(words, at) || words.get(at..at + 2).is_some_and(|list| list.iter().all(|word| is_heap(*word)))
        };
        let begin =
            (0..LISTS).map(|list| list * 2).take_while(|back| *back <= at && is_list(at - back)).last().unwrap_or(0);
        let begin = at - begin;
        let end = (begin..).step_by(2).take(LISTS + 1).find(|at| !is_list(*at)).unwrap_or(begin + 2 * LISTS + 2);
        let empty = (begin..end).step_by(2).filter(|at| is_empty(words, *at)).count();
        if empty > LISTS / 4 {
            let end = end.min(words.len());
            words[begin..end].fill(0);
        }
        at = end;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const START: u64 = 0x5555_5555_0000;

    /// Blocks of these sizes, in use or not, and the rest.
    fn heap(blocks: &[(u64, bool)], rest: u64) -> Vec<u64> {
        let mut words = Vec::new();
        let mut before = true;
        for (size, in_use) in blocks.iter().copied().chain([(rest, true)]) {
            words.extend([0, size | u64::from(before)]);
            words.resize(words.len() + size as usize / 8 - 2, 0);
            before = in_use;
        }
        words
    }

    #[test]
    fn words_lead_to_blocks_that_contain_them() {
        let words = heap(&[(0x20, true), (0x30, false), (0x2000, true), (0x20, true)], 0x100);
        let heap = Heap::of(START, words, false).unwrap();
        let block = |offset: u64| heap.block(START + offset);
        assert_eq!([0, 0x8].map(block), [None; 2]);
        assert_eq!([0x10, 0x18, 0x20].map(block), [Some(2); 3]);
        // With a tag to the beginning, or to the value of an `Arc`.
        assert_eq!([0x11, 0x27, 0x19].map(block), [Some(2), Some(2), None]);
        // A size, a free block, and again a size.
        assert_eq!([0x28, 0x30, 0x48, 0x58].map(block), [None; 4]);
        assert_eq!([0x60, 0x1000, 0x2050].map(block), [Some(0x60 / 8); 3]);
        assert_eq!([0x2060, 0x2070, 0x2078].map(block), [Some(0x2060 / 8), Some(0x2060 / 8), None]);
        // The rest, and beyond.
        assert_eq!([0x2090, 0x3000, u64::MAX - START].map(block), [None; 3]);
        assert_eq!((heap.block(START - 1), heap.content(2).len()), (None, 3));
    }

    #[test]
    fn a_walk_that_does_not_end_with_the_heap_is_none() {
        let words = heap(&[(0x20, true), (0x40, true)], 0x80);
        assert!(Heap::of(START, words.clone(), false).is_some());
        assert!(Heap::of(START, words.clone(), true).is_none());
        for (place, word) in [(1, 0x11), (1, 0x23), (1, 0x29), (5, 0x1001), (13, 0x91)] {
            let mut damaged = words.clone();
            damaged[place] = word;
            assert!(Heap::of(START, damaged, false).is_none(), "{place} {word:x}");
        }
    }

    #[test]
    fn freed_blocks_of_a_thread_are_forgotten() {
        let mut words = heap(&[(FREED, true), (FREED, true)], 0x100);
        // One freed block of the second size; and the same words with a wrong count.
        words[2] = 1 << 16;
        words[2 + 16 + 1] = START + 0x540;
        let other = FREED as usize / 8 + 2;
        words[other] = 1 << 32;
        words[other + 16 + 1] = START + 0x540;
        let heap = Heap::of(START, words, false).unwrap();
        assert_eq!((heap.words[19], heap.words[other + 17]), (0, START + 0x540));
    }

    #[test]
    fn lists_of_free_blocks_are_forgotten() {
        let at = 0x7f00_0000_1000;
        let mut words: Vec<u64> = vec![7; 20];
        for list in 0..127_u64 {
            let itself = at + (20 + list * 2) * 8 - 16;
            words.extend(if list % 3 == 0 { [START + 0x100, START + 0x200] } else { [itself; 2] });
        }
        words.extend([9; 20]);
        forget_free(at, &mut words, |word| (START..START + 0x1000).contains(&word));
        assert!(words[..20].iter().all(|word| *word == 7) && words[20..274].iter().all(|word| *word == 0));
        assert!(words[274..].iter().all(|word| *word == 9));
        // A single list that leads to itself is of another kind.
        let mut other = vec![at - 16, at - 16, 3];
        forget_free(at, &mut other, |_| false);
        assert_eq!(other, [at - 16, at - 16, 3]);
    }

    proptest! {
        #[test]
        fn never_panics(mut words in proptest::collection::vec(prop_oneof![
            0_u64..0x100, any::<u64>(), Just(START), Just(FREED | 1),
        ], 0..400), word: u64) {
            forget_free(START, &mut words, |word| word == START);
            for is_further in [false, true] {
                if let Some(heap) = Heap::of(START, words.clone(), is_further) {
                    let _ = (heap.block(word), heap.block(START + word % 4096));
                }
            }
        }
    }
}
