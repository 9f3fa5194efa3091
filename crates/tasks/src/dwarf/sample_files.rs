//! Files with debug information, written by hand.

use std::sync::Arc;

use memmap2::{Mmap, MmapMut};
use object::elf;

use super::sample::Sample;

/// A section of a file: its name, flags and bytes.
pub(crate) type Section<'a> = (&'a str, u32, &'a [u8]);

/// Writes an ELF file that has sections and nothing else.
pub(crate) fn file(sections: &[Section<'_>]) -> Vec<u8> {
    let mut names = vec![0];
    let mut bytes = vec![0; 64];
    // the first header is empty
    let mut headers = vec![0; 64];
    let names_of_sections = (".shstrtab", 0, &[][..]);
    for (number, (name, flags, content)) in sections.iter().chain([&names_of_sections]).enumerate() {
        let at_name = names.len() as u32;
        names.extend(name.bytes().chain([0]));
        let (kind, content) = match number == sections.len() {
            true => (elf::SHT_STRTAB.0, &names[..]),
            false => (elf::SHT_PROGBITS.0, *content),
        };
        headers.extend([at_name, kind, *flags, 0, 0, 0].iter().flat_map(|word| word.to_le_bytes()));
        headers.extend([bytes.len() as u64, content.len() as u64, 0, 1, 0].iter().flat_map(|word| word.to_le_bytes()));
        bytes.extend(content);
    }
    let count = sections.len() as u16 + 2;
    let at = bytes.len() as u64;
    bytes.extend(headers);
    bytes[..20].copy_from_slice(b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x03\0\x3e\0");
    bytes[40..48].copy_from_slice(&at.to_le_bytes());
    for (place, half) in [(52, 64), (58, 64), (60, count), (62, count - 1)] {
        bytes[place..place + 2].copy_from_slice(&u16::to_le_bytes(half));
    }
    bytes
}

/// Writes a compressed section that says it has `size` bytes.
pub(crate) fn compressed(format: u32, size: u64, content: &[u8]) -> Vec<u8> {
    let header = [u64::from(format), size, 1].map(u64::to_le_bytes);
    [header.as_flattened(), content].concat()
}

/// Bytes as they would be if they were a mapped file.
pub(crate) fn mapped(bytes: &[u8]) -> Arc<Mmap> {
    let mut memory = MmapMut::map_anon(bytes.len()).unwrap();
    memory.copy_from_slice(bytes);
    Arc::new(memory.make_read_only().unwrap())
}

/// Writes a `.dwo` file.
pub(crate) fn object(unit: &Sample) -> Vec<u8> {
    file(&[(".debug_info.dwo", 0, &unit.info), (".debug_abbrev.dwo", 0, &unit.abbreviations)])
}

/// Writes a `.dwp` file of one unit.
pub(crate) fn package(unit: &Sample, index: &[u8]) -> Vec<u8> {
    file(&[
        (".debug_info.dwo", 0, &unit.info),
        (".debug_abbrev.dwo", 0, &unit.abbreviations),
        (".debug_cu_index", 0, index),
    ])
}

/// Writes the index of a package whose units all are in the same place.
pub(crate) fn index(id: u64, units: u32, unit: &Sample) -> Vec<u8> {
    let slots = (units + 1).next_power_of_two();
    let words = |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
    let mut index = words(&[2, 2, units, slots]);
    index.extend((0..slots).flat_map(|slot| (id + u64::from(slot)).to_le_bytes()));
    index.extend(words(&(0..slots).map(|slot| slot % units + 1).collect::<Vec<u32>>()));
    // the columns are .debug_info.dwo and .debug_abbrev.dwo
    index.extend(words(&[1, 3]));
    index.extend(words(&[0, 0].repeat(units as usize)));
    index.extend(words(&[unit.info.len() as u32, unit.abbreviations.len() as u32].repeat(units as usize)));
    index
}
