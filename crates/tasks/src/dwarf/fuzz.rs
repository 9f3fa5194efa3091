//! Damaged debug information ends in an error or in less knowledge.

use std::borrow::Cow;

use object::elf::{ELFCOMPRESS_ZLIB, ELFCOMPRESS_ZSTD, SHF_COMPRESSED};
use object::{Object, ObjectSection};
use proptest::prelude::*;

use super::sample::{POLL, Sample, VTABLE, compressed, file, sample};
use super::{Error, Sections, Shape, TypeId, Types};

/// Asks for everything that can be asked for.
fn read_all(sections: &Sections<'_>) {
    let Ok(types) = Types::load(sections) else { return };
    let ids = types.index.types.iter().map(|(offset, _)| TypeId(*offset)).chain((0..64).map(TypeId));
    for id in ids {
        let kind = types.get(id);
        for member in &kind.members {
            types.get(member.kind);
            types.line_of(id, member);
        }
        types.awaitees(id);
        types.resume_symbol(id);
        let _ = types.runtime_count(id);
    }
    for (address, _) in &types.index.functions {
        let _ = types.polled(*address);
        let spawns = types.spawns(|wanted| wanted.iter().map(|target| (*address, *target)).collect());
        types.polled(*address).iter().for_each(|polled| drop(types.spawned(&spawns, polled.future)));
    }
    for (address, _) in &types.index.vtables {
        types.behind_vtable(*address);
    }
}

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

#[test]
fn compressed_sections_cannot_ask_for_memory() {
    let load = |section: &[u8]| Sections::load(&file(&[(".debug_info", SHF_COMPRESSED.0 as u32, section)])).map(drop);
    for format in [ELFCOMPRESS_ZLIB.0, ELFCOMPRESS_ZSTD.0] {
        for size in [100 << 30, 100 << 20, u64::MAX] {
            let error = load(&compressed(format, size, &[0; 1000])).unwrap_err();
            assert!(matches!(error, Error::TooLarge { section: ".debug_info", size: told } if told == size), "{error}");
        }
        assert!(matches!(load(&compressed(format, 1000, &[7; 100])), Err(Error::Section { .. })));
    }
    assert!(matches!(load(&compressed(77, 100, &[7; 100])), Err(Error::Section { .. })));
    assert!(matches!(load(&[1, 0]), Err(Error::Section { .. })));
    // zlib: two bytes of header, one block that is not compressed, its checksum
    let stored = [0x78, 1, 1, 3, 0, 0xfc, 0xff, b'a', b'b', b'c', 0x02, 0x4d, 0x01, 0x27];
    assert_eq!(load(&compressed(ELFCOMPRESS_ZLIB.0, 3, &stored)), Ok(()));
    assert!(matches!(load(&compressed(ELFCOMPRESS_ZLIB.0, 4, &stored)), Err(Error::Section { .. })));
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
