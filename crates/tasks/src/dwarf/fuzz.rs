//! Damaged debug information ends in an error or in less knowledge.

use std::borrow::Cow;

use object::{Object, ObjectSection};
use proptest::prelude::*;

use super::sample::{POLL, Sample, VTABLE, sample};
use super::{Sections, Shape, Types, read_all};

#[test]
fn the_sample_is_understood() {
    let sample = sample();
    let sections = sample.sections();
    let types = Types::load(&sections).unwrap();
    let polled = types.polled(POLL);
    assert_eq!(polled.len(), 1);
    assert_eq!(polled[0].name, "app::run::{async_fn_env#0}");
    assert_eq!(types.behind_vtable(VTABLE), Some(polled[0].future));
    assert_eq!(types.behind_vtable(VTABLE + 8), None);
    let core = types.get(polled[0].core.unwrap());
    assert_eq!((core.size, core.bare()), (48, "tokio::runtime::task::core::Core"));
    let future = types.get(polled[0].future);
    let variants = future.variants.as_ref().unwrap();
    assert_eq!((variants.offset, variants.size, variants.list.len()), (0, 1, 2));
    assert_eq!(types.get(variants.of(3).unwrap().kind).name, "Suspend0");
    assert!(variants.of(7).is_none());
    assert!(matches!(types.get(types.get(variants.of(3).unwrap().kind).members[1].kind).shape, Shape::Struct));
}

fn changed(bytes: &mut [u8], changes: &[(prop::sample::Index, u8)]) {
    for (place, byte) in changes {
        if !bytes.is_empty() {
            let place = place.index(bytes.len());
            bytes[place] = *byte;
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_bytes_are_no_trouble(
        abbreviations in prop::collection::vec(any::<u8>(), 0..200), info in prop::collection::vec(any::<u8>(), 0..400),
    ) {
        read_all(&Sample { abbreviations, info }.sections());
    }

    #[test]
    fn changed_bytes_are_no_trouble(
        abbreviations in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..3),
        info in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..12),
        cut in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let mut sample = sample();
        changed(&mut sample.abbreviations, &abbreviations);
        changed(&mut sample.info, &info);
        if let Some(cut) = cut {
            let cut = cut.index(sample.info.len());
            sample.info.truncate(cut);
        }
        read_all(&sample.sections());
    }

    #[test]
    fn random_files_are_no_trouble(bytes in prop::collection::vec(any::<u8>(), 0..200), elf: bool) {
        let bytes = if elf { [&b"\x7fELF\x02\x01\x01"[..], &bytes].concat() } else { bytes };
        if let Ok(sections) = Sections::load(&bytes) {
            read_all(&sections);
        }
    }
}

/// Returns the first units of this test's own program, up to a number of bytes.
fn first_units(info: &[u8], limit: usize) -> &[u8] {
    let mut end = 0;
    while let Some(length) = info.get(end..end + 4).and_then(|bytes| bytes.try_into().ok()).map(u32::from_le_bytes) {
        let next = end + 4 + length as usize;
        if next > limit || next > info.len() {
            break;
        }
        end = next;
    }
    &info[..end]
}

#[test]
fn changed_units_of_rustc_are_no_trouble() {
    let program = std::fs::read(std::env::current_exe().unwrap()).unwrap();
    let file = object::File::parse(&program[..]).unwrap();
    let section = |name: &str| file.section_by_name(name).and_then(|section| section.data().ok()).unwrap_or_default();
    let info = first_units(section(".debug_info"), 200_000);
    let mut random = 0x9e37_79b9_7f4a_7c15u64;
    let mut next = || {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random
    };
    for round in 0..20 {
        let mut info = info.to_vec();
        for _ in 0..round {
            let place = next() as usize % info.len().max(1);
            if let Some(byte) = info.get_mut(place) {
                *byte = next() as u8;
            }
        }
        read_all(&Sections::of(|name| match name {
            ".debug_info" => Cow::Owned(info.clone()),
            other => Cow::Borrowed(section(other)),
        }));
    }
}
