//! Finds the stacks of threads, also of ended ones that the C library keeps for later threads.
//!
//! A task's cell is built on a stack before it moves to the heap, and its copy stays there. The kernel does not say
//! which memory is a stack. But glibc and musl keep a thread's descriptor at the upper end of its stack, and the
//! descriptor has the stack's bounds: a word and its successor that describe a block around themselves.

use std::ops::Range;

use super::word_at;

/// Largest distance of the bounds from the stack's end: the descriptor and the thread's static variables.
const FROM_END: u64 = 64 << 10;

/// Largest stack.
const LARGEST: u64 = 4 << 30;

const PAGE_MASK: u64 = 4095;

/// Adds to `stacks` the bounds of each stack whose descriptor is in `bytes`, which were read from `address`.
pub fn find(address: u64, bytes: &[u8], stacks: &mut Vec<Range<u64>>) {
    for (index, word) in bytes.chunks_exact(8).enumerate() {
        let offset = index * 8;
        let at = address + offset as u64;
        let block = u64::from_le_bytes(word.try_into().unwrap_or_default());
        // Few words pass this line.
        if block & PAGE_MASK != 0 || block == 0 || block >= at || at - block > LARGEST {
            continue;
        }
        stacks.extend(bounds(at, block, &bytes[offset..]));
    }
}

/// Returns the block that a descriptor's words, `descriptor`, describe at `at`: the block's address, then its size.
fn bounds(at: u64, block: u64, descriptor: &[u8]) -> Option<Range<u64>> {
    let field = |index: usize| word_at(descriptor, index * 8);
    let size = field(1)?;
    let end = block.checked_add(size)?;
    if size & PAGE_MASK != 0 || end <= at || end - at > FROM_END {
        return None;
    }
    let is_guard = |guard: u64| guard & PAGE_MASK == 0 && guard < size;
    // glibc: stackblock, stackblock_size, guardsize.
    let glibc = is_guard(field(2)?);
    // musl: map_base, map_size, stack, stack_size, guard_size; `stack` is the upper end of the usable part.
    let musl = || Some((block..=at).contains(&field(2)?) && field(3)? <= size && is_guard(field(4)?));
    (glibc || musl().unwrap_or(false)).then_some(block..end)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const BLOCK: u64 = 0x7f00_0000_0000;

    fn found(at: u64, words: &[u64]) -> Vec<Range<u64>> {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let mut stacks = Vec::new();
        find(at, &bytes, &mut stacks);
        stacks
    }

    #[test]
    fn finds_descriptors_at_the_end_of_their_block() {
        let size = 2 << 20;
        let end = BLOCK + size;
        let block = BLOCK..end;
        let stack = [block];
        assert_eq!(found(end - 0x280, &[1, BLOCK, size, 4096, 4096]), stack);
        assert_eq!(found(end - 0x280, &[1, BLOCK, size, end - 0x400, size - 0x2400, 0x2000]), stack);
        // The same words far below the end, above it, and without a guard that fits.
        assert_eq!(found(end - 0x20000, &[1, BLOCK, size, 4096, 4096]), []);
        assert_eq!(found(end + 0x280, &[1, BLOCK, size, 4096, 4096]), []);
        assert_eq!(found(end - 0x280, &[1, BLOCK, size, 17, 4096]), []);
    }

    #[test]
    fn finds_the_stack_of_a_thread_of_this_process() {
        use crate::memory::live::Process;
        use crate::memory::{maps, resident::Resident};

        let local = std::thread::spawn(|| {
            let local = std::hint::black_box(7);
            let here = (&raw const local).addr() as u64;
            let process = Process::open(std::process::id()).unwrap();
            let maps = maps::parse(&std::fs::read("/proc/self/maps").unwrap());
            let mut resident = Resident::open(&process).unwrap();
            let mut stacks = Vec::new();
            for map in maps.iter().filter(|map| map.is_heap() && map.range.contains(&here)) {
                resident.read(&map.range, |at, bytes| find(at, bytes, &mut stacks)).unwrap();
            }
            stacks.iter().any(|stack| stack.contains(&here))
        });
        assert!(local.join().unwrap());
    }

    proptest! {
        #[test]
        fn never_panics(at in any::<u64>(), words in proptest::collection::vec(prop_oneof![
            any::<u64>(), Just(4096), Just(!PAGE_MASK), Just(BLOCK),
        ], 0..20)) {
            let at = at & !7;
            prop_assume!(at < u64::MAX - 4096);
            found(at, &words);
        }
    }
}
