//! The parsers of a program's file and of its memory, for tests and for the fuzzer, which have no program.

use std::borrow::Cow;
use std::cell::Cell;

use crate::cell::HeaderLayout;
use crate::dwarf::{Sections, Types, read_all};
use crate::future::{Layout, Reader};
use crate::listing::{Await, Chain};
use crate::memory::{Memory, Unreadable};

/// The address of the function that polls the tasks.
const POLL: u64 = 0x1000;
/// The address of the cell of a task.
const CELL: u64 = 0x4000;
/// From the cell to the scheduler.
const SCHEDULER: u64 = 0x20;

/// Parts of an input: the lengths of the first two, of 2 bytes each, precede them.
struct Parts<'b> {
    abbreviations: &'b [u8],
    info: &'b [u8],
    rest: &'b [u8],
}

impl<'b> Parts<'b> {
    fn of(bytes: &'b [u8]) -> Option<Parts<'b>> {
        let (lengths, bytes) = bytes.split_first_chunk::<4>()?;
        let length = |low, high| usize::from(u16::from_le_bytes([low, high]));
        let (abbreviations, bytes) = bytes.split_at_checked(length(lengths[0], lengths[1]))?;
        let (info, rest) = bytes.split_at_checked(length(lengths[2], lengths[3]))?;
        Some(Parts { abbreviations, info, rest })
    }

    /// `others`: the bytes of each other section.
    fn sections(&self, others: &'b [u8]) -> Sections<'b> {
        Sections::of(|name| match name {
            ".debug_abbrev" => Cow::Borrowed(self.abbreviations),
            ".debug_info" => Cow::Borrowed(self.info),
            _ => Cow::Borrowed(others),
        })
    }
}

/// Reads all that debug information says.
pub fn dwarf(bytes: &[u8]) {
    if let Some(parts) = Parts::of(bytes) {
        read_all(&parts.sections(parts.rest));
    }
}

/// Reads a chain, by debug information and memory that need not fit.
///
/// # Panics
///
/// If it has more futures than the limits allow.
pub fn future(bytes: &[u8]) {
    let Some((parts, memory)) =
        Parts::of(bytes).and_then(|parts| Repeated::of(parts.rest).map(|memory| (parts, memory)))
    else {
        return;
    };
    let sections = parts.sections(&[]);
    let Ok(types) = Types::load(&sections) else { return };
    let reader = Reader { memory: &memory, types: &types, bias: 0, descriptors: None, now: Some(1), tasks: &|_| None };
    for polled in types.polled(POLL) {
        if let Some(layout) = Layout::of(&types, &HeaderLayout::default(), SCHEDULER, &polled)
            && let Chain::Read { root } = reader.chain(CELL, &layout, None)
        {
            assert!(count(&root) <= 1 << 18);
        }
    }
}

fn count(future: &Await) -> usize {
    1 + future.awaits.iter().map(count).sum::<usize>()
}

/// Memory that repeats some bytes from the cell on, and that changes after a number of reads.
struct Repeated<'b> {
    bytes: &'b [u8],
    changes_after: u32,
    reads: Cell<u32>,
}

impl<'b> Repeated<'b> {
    fn of(bytes: &'b [u8]) -> Option<Repeated<'b>> {
        let (changes_after, bytes) = bytes.split_first_chunk()?;
        let changes_after = u16::from_le_bytes(*changes_after).into();
        (!bytes.is_empty()).then_some(Repeated { bytes, changes_after, reads: Cell::new(0) })
    }
}

impl Memory for Repeated<'_> {
    fn read(&self, address: u64, into: &mut [u8]) -> Result<(), Unreadable> {
        if address > 1 << 40 {
            return Err(Unreadable { address });
        }
        self.reads.set(self.reads.get().saturating_add(1));
        let changed = u8::from(self.changes_after != 0 && self.reads.get().is_multiple_of(self.changes_after));
        // An address below the cell is a place, too.
        let beginning = (address.wrapping_sub(CELL) % self.bytes.len() as u64) as usize;
        for (byte, repeated) in into.iter_mut().zip(self.bytes.iter().cycle().skip(beginning)) {
            *byte = repeated ^ changed;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dwarf::sample::sample;

    /// The inputs with which the fuzzer begins: the sample, and a task that is suspended.
    fn seeds() -> [(&'static str, Vec<u8>); 2] {
        let sample = sample();
        let mut seed = Vec::new();
        for part in [&sample.abbreviations, &sample.info] {
            seed.extend(u16::try_from(part.len()).unwrap().to_le_bytes());
        }
        seed.extend(sample.abbreviations);
        seed.extend(sample.info);
        // The state of an idle task; `Stage` is running, its coroutine in state 3, and pointers lead to the coroutine.
        let coroutine = CELL + SCHEDULER + 0x10;
        let words = [0xc0, 0, 0, 1, 0, 0, 3, coroutine, coroutine, coroutine];
        let memory = [0, 0].into_iter().chain(words.iter().flat_map(|word: &u64| word.to_le_bytes()));
        [("dwarf", seed.clone()), ("future", seed.into_iter().chain(memory).collect())]
    }

    #[test]
    fn the_seeds_of_the_fuzzer_are_understood() {
        for (name, seed) in seeds() {
            let path = format!("{}/fuzz/seeds/{name}/task", env!("CARGO_MANIFEST_DIR"));
            if std::env::var_os("DYNTRACE_WRITE_SEEDS").is_some() {
                std::fs::write(&path, &seed).unwrap();
            }
            assert!(std::fs::read(&path).unwrap() == seed, "{path} is old; write it with DYNTRACE_WRITE_SEEDS=1");
        }
        let [(_, of_dwarf), (_, of_future)] = seeds();
        dwarf(&of_dwarf);
        future(&of_future);
        let parts = Parts::of(&of_future).unwrap();
        let sections = parts.sections(&[]);
        let types = Types::load(&sections).unwrap();
        let memory = Repeated::of(parts.rest).unwrap();
        let reader = Reader { memory: &memory, types: &types, bias: 0, descriptors: None, now: None, tasks: &|_| None };
        let layout = Layout::of(&types, &HeaderLayout::default(), SCHEDULER, &types.polled(POLL)[0]).unwrap();
        let Chain::Read { root } = reader.chain(CELL, &layout, None) else { panic!("no chain") };
        assert_eq!((&*root.future, root.awaits.len()), ("app::run", 1));
    }
}
