//! Damaged debug information ends in an error or in less knowledge.

use std::borrow::Cow;

use object::elf::{ELFCOMPRESS_ZLIB, ELFCOMPRESS_ZSTD, SHF_COMPRESSED};
use object::{Object, ObjectSection};
use proptest::prelude::*;

use super::sample::{POLL, Sample, VTABLE, sample, skeleton, split_unit, with_alternate};
use super::sample_files::{compressed, file, index, mapped, object, package};
use super::{Error, Sections, Shape, Types, read_all};

#[test]
fn the_sample_is_understood() {
    understands_the_sample(&sample().sections());
}

fn understands_the_sample(sections: &Sections<'_>) {
    let types = Types::load(sections).unwrap();
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
    assert_eq!(types.get(variants.list[variants.position(3).unwrap()].1.kind).name, "Suspend0");
    assert!(variants.position(7).is_none());
    assert!(matches!(
        types.get(types.get(variants.list[variants.position(3).unwrap()].1.kind).members[1].kind).shape,
        Shape::Struct
    ));
}

const ID: u64 = 0x1234_5678_9abc;

#[test]
fn split_units_are_understood() {
    let unit = split_unit(ID);
    for further in [object(&unit), package(&unit, &index(ID, 1, &unit))] {
        let mut sections = skeleton(ID, "/built", "app.dwo").sections();
        let missing = sections.skeletons();
        assert_eq!((missing[0].id, missing[0].object.to_str()), (ID, Some("/built/app.dwo")));
        assert!(Types::load(&sections).unwrap().polled(POLL).is_empty());
        sections.add_split(&mapped(&further)).unwrap();
        understands_the_sample(&sections);
    }
    // of another build
    let mut sections = skeleton(ID + 1, "/built", "app.dwo").sections();
    sections.add_split(&mapped(&object(&unit))).unwrap();
    assert!(Types::load(&sections).unwrap().polled(POLL).is_empty());
    assert!(sections.add_split(&mapped(&file(&[]))).is_err());
}

#[test]
fn a_package_has_its_bytes_once() {
    let unit = split_unit(ID);
    let mut sections = skeleton(ID, "", "app.dwo").sections();
    sections.add_split(&mapped(&package(&unit, &index(ID, 10_000, &unit)))).unwrap();
    assert_eq!(sections.split(&sections.dwarf()).len(), 1);
    understands_the_sample(&sections);
}

/// A table of abbreviations that is read for each of its units is read 50,000 times: the test would not end.
#[test]
fn tables_of_abbreviations_are_read_once() {
    const UNITS: u32 = 50_000;
    let code = |number: u32| [number as u8 & 0x7f | 0x80, (number >> 7) as u8 & 0x7f | 0x80, (number >> 14) as u8];
    let mut abbreviations = Vec::new();
    for number in 1..=UNITS {
        abbreviations.extend(code(number));
        abbreviations.extend([gimli::DW_TAG_compile_unit.0 as u8, 0, 0, 0]);
    }
    // the table of each unit begins where the one before has its second entry, or all have the same
    for step in [7, 0] {
        let unit = |number: u32| {
            let mut unit = vec![10, 0, 0, 0, 4, 0];
            unit.extend((step * number).to_le_bytes());
            unit.push(8);
            unit.extend(code(number + 1));
            unit
        };
        let info = (0..UNITS).flat_map(unit).collect();
        let sections = Sample { abbreviations: abbreviations.clone(), info }.sections();
        assert_eq!(Types::load(&sections).unwrap().units.len(), UNITS as usize);
        assert!(sections.skeletons().is_empty());
    }
}

#[test]
fn entries_in_a_supplementary_file_are_found_or_left_out() {
    const OTHER_POLL: u64 = 0x3000;
    let mut sections = with_alternate(OTHER_POLL).sections();
    assert!(Types::load(&sections).unwrap().polled(OTHER_POLL).is_empty());
    let Sample { abbreviations, info } = sample();
    let supplementary = file(&[(".debug_info", 0, &info), (".debug_abbrev", 0, &abbreviations)]);
    sections.add_supplementary(&mapped(&supplementary)).unwrap();
    understands_the_sample(&sections);
    let types = Types::load(&sections).unwrap();
    assert_eq!(types.polled(OTHER_POLL), types.polled(POLL));
    assert_eq!(types.polled(POLL).len(), 1);
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
    fn changed_further_files_are_no_trouble(
        index_changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..12),
        supplementary: bool,
    ) {
        let mut unit = split_unit(ID);
        let mut index = index(ID, 3, &unit);
        changed(&mut index, &index_changes);
        changed(&mut unit.info, &changes);
        let mut sections = if supplementary { with_alternate(POLL) } else { skeleton(ID, "", "app.dwo") }.sections();
        if supplementary {
            let _ = sections.add_supplementary(&mapped(&file(&[
                (".debug_info", 0, &unit.info),
                (".debug_abbrev", 0, &unit.abbreviations),
            ])));
        }
        let _ = sections.add_split(&mapped(&package(&unit, &index)));
        let _ = sections.add_split(&mapped(&object(&unit)));
        sections.skeletons();
        read_all(&sections);
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
