//! Random memory and damaged types end in a chain, whatever it says.

use proptest::prelude::*;

use super::{Layout, Reader};
use crate::cell::HeaderLayout;
use crate::dwarf::sample::{POLL, Sample, VTABLE, sample};
use crate::dwarf::{PolledTask, Types};
use crate::listing::{Await, Chain, Progress, WaitsFor};
use crate::memory::{Memory, Unreadable};

/// Memory that repeats a few bytes, but for one word in four, which is an address in it or of a vtable.
struct Random {
    seed: u64,
    states: [u8; 8],
}

impl Memory for Random {
    fn read(&self, address: u64, bytes: &mut [u8]) -> Result<(), Unreadable> {
        if address > 1 << 40 || bytes.len() > 1 << 20 {
            return Err(Unreadable { address });
        }
        for (number, byte) in bytes.iter_mut().enumerate() {
            let at = address + number as u64;
            let word = (at / 8).wrapping_mul(self.seed | 1);
            let word = (word ^ word >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            *byte = match word >> 60 {
                0..4 => ((word & 0xff_fff8) >> (8 * (at % 8)).min(63)) as u8,
                4 => (VTABLE >> (8 * (at % 8))) as u8,
                _ => self.states[(word as usize >> 3).wrapping_add(at as usize) % 8],
            };
        }
        Ok(())
    }
}

fn chain(sample: &Sample, memory: &dyn Memory, cell: u64) -> Option<Chain> {
    let sections = sample.sections();
    let types = Types::load(&sections).ok()?;
    let reader = Reader { memory, types: &types, bias: 0, descriptors: None, now: None, tasks: &|_| None };
    let polled: Vec<PolledTask> = types.polled(POLL);
    polled.first().map(|polled| match Layout::of(&types, &HeaderLayout::default(), 0x20, polled) {
        Some(layout) => reader.chain(cell, &layout, None),
        None => Chain::NoTypes,
    })
}

fn count(shown: &Await) -> usize {
    1 + shown.awaits.iter().map(count).sum::<usize>()
}

/// Memory of one byte.
struct Same(u8);

impl Memory for Same {
    fn read(&self, _: u64, bytes: &mut [u8]) -> Result<(), Unreadable> {
        bytes.fill(self.0);
        Ok(())
    }
}

#[test]
fn states_are_told_apart() {
    let sample = sample();
    let Some(Chain::Read { root }) = chain(&sample, &Same(0), 0x1000) else { panic!("a chain") };
    assert_eq!((&*root.future, root.progress), ("app::run", Progress::Unresumed));
    assert!(matches!(chain(&sample, &Same(1), 0x1000), Some(Chain::Complete)));
    assert!(matches!(chain(&sample, &Same(9), 0x1000), Some(Chain::Busy)));
}

#[test]
fn a_future_that_contains_itself_has_an_end() {
    /// Each coroutine is suspended, and each pointer leads to the same one.
    struct Circle;
    impl Memory for Circle {
        fn read(&self, address: u64, bytes: &mut [u8]) -> Result<(), Unreadable> {
            // `Stage` at 0x1028 is running; the coroutine at 0x1030 is in state 3, its awaitee at 0x1038
            let image = [[0u64, 0], [0, 3], [0x1030, 0x1030], [0x1030, 0x1030]].concat();
            for (number, byte) in bytes.iter_mut().enumerate() {
                let at = (address + number as u64).wrapping_sub(0x1018) as usize;
                *byte = image.get(at / 8).map_or(0, |word| word.to_le_bytes()[at % 8]);
            }
            Ok(())
        }
    }
    let Some(Chain::Read { root }) = chain(&sample(), &Circle, 0x1000) else { panic!("a chain") };
    assert!(count(&root) > 50);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_memory_is_no_trouble(seed: u64, states: [u8; 8], cell in 0u64..1 << 41) {
        let memory = Random { seed, states: states.map(|state| state % 5) };
        if let Some(Chain::Read { root }) = chain(&sample(), &memory, cell) {
            prop_assert!(count(&root) <= 1 << 18);
        }
    }

    #[test]
    fn random_memory_of_changed_types_is_no_trouble(
        seed: u64, changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..8),
    ) {
        let mut sample = sample();
        for (place, byte) in changes {
            let place = place.index(sample.info.len());
            sample.info[place] = byte;
        }
        let memory = Random { seed, states: [0, 3, 0, 3, 3, 0, 1, 0] };
        chain(&sample, &memory, (seed % (1 << 24)) & !7);
    }
}

#[test]
fn leaves_that_lack_a_field_are_unknown() {
    // `notify` is renamed
    let mut sample = sample();
    let place = sample.info.windows(7).position(|bytes| bytes == b"notify\0").unwrap();
    let place = place + 1 + sample.info[place + 1..].windows(7).position(|bytes| bytes == b"notify\0").unwrap();
    sample.info[place..place + 6].copy_from_slice(b"renamd");
    /// The coroutine is suspended, with null pointers.
    struct Suspended;
    impl Memory for Suspended {
        fn read(&self, address: u64, bytes: &mut [u8]) -> Result<(), Unreadable> {
            for (number, byte) in bytes.iter_mut().enumerate() {
                *byte = if address + number as u64 == 0x1030 { 3 } else { 0 };
            }
            Ok(())
        }
    }
    let Some(Chain::Read { root }) = chain(&sample, &Suspended, 0x1000) else { panic!("a chain") };
    assert_eq!(root.progress, Progress::Suspended);
    let last = root.awaits[0].awaits.last().unwrap();
    assert_eq!((&*last.future, &last.waits_for), ("Notified", &Some(WaitsFor::UnknownLeaf)));
}
