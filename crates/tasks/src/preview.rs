//! How much the reader will be able to show of a program, by its file alone.

use std::cell::Cell;
use std::fs;
use std::io;
use std::path::Path;
use std::sync::Arc;

use dyntrace_folders::open_regular;
use memmap2::Mmap;
use object::elf::{EM_AARCH64, PT_LOAD, R_AARCH64_RELATIVE, R_X86_64_RELATIVE};
use object::read::elf::{FileHeader, ProgramHeader};
use object::{LittleEndian, Object, RelocationFlags};

use crate::aside::{Opened, Opener};
use crate::debug_file;
use crate::dwarf::Types;
use crate::elf::{Elf, parse};
use crate::error::Error;
use crate::image;
use crate::layout::Other;
use crate::listing::Name;
use crate::mapped;
use crate::memory::{Memory, Unreadable};
use crate::names;
use crate::polls::Functions;
use crate::vtables::{self, ImageVtables};

const WHAT: &str = "the program's file";

fn failed(path: &Path, error: io::Error) -> Error {
    Error::File { what: WHAT, path: path.to_owned(), error }
}

/// How many types of tasks a program has, and how much of each can be shown.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Preview {
    /// Futures with their types, and chains of awaits with their lines.
    pub chains: usize,
    /// Types of futures.
    pub types: usize,
    /// Names by symbols.
    pub names: usize,
    /// Ids and states only.
    pub states: usize,
    /// Debug information that is missing, and the way out.
    pub notes: Vec<String>,
    /// The functions at which a tracer sees polls and wakes, at their addresses in the file.
    pub functions: Functions,
    /// Whether the program's symbols or debug information are in another file.
    pub has_debug_file: bool,
    /// How its tokio differs from the versions that are known, as far as the file tells.
    pub other: Other,
}

impl Preview {
    /// Looks into the program's file, and the debug file beside it or where debuggers look. Libraries are left out.
    ///
    /// # Errors
    ///
    /// If the file cannot be read or is no 64-bit little-endian ELF file.
    pub fn of(path: &Path) -> Result<Preview, Error> {
        let file = open_regular(path).map_err(|source| failed(path, source))?;
        let path = &path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let bytes = mapped::read(&file, path, WHAT, &Cell::new(image::COPIED))?;
        Preview::with(path, mapped::owner(&file, path, WHAT)?, &bytes)
    }

    /// The same for the program of a process, at a path of its /proc. Does not wait for a server that never answers.
    ///
    /// # Errors
    ///
    /// As [`of`](Self::of).
    pub fn of_mapped(path: &Path) -> Result<Preview, Error> {
        let room = Cell::new(image::COPIED);
        let opened = Opener::default().open(path, &room, |_| Ok(()));
        let (facts, file) = opened.map_err(|source| failed(path, source))?;
        let there = match &file {
            Opened::File(_) => path.canonicalize(),
            // To follow the whole path asks the server.
            Opened::Copy(_) => fs::read_link(path),
        };
        let path = &there.unwrap_or_else(|_| path.to_owned());
        Preview::with(path, facts.uid, &file.read(path, WHAT, &room)?)
    }

    fn with(path: &Path, owner: u32, bytes: &Arc<Mmap>) -> Result<Preview, Error> {
        let Some(mut image) = image::image(owner, bytes, path, |_| Some(0), WHAT)? else {
            return Ok(Preview::default());
        };
        let memory = Linked::of(&parse(bytes, path, WHAT)?, bytes);
        let code = image::code(std::slice::from_ref(&image));
        let mut notes = Vec::new();
        let ImageVtables { vtables: mut found, other } =
            vtables::search(&memory, 0, &mut image, &code, None, &mut notes)?;
        if found.is_empty() {
            return Ok(Preview { other, notes, ..Preview::default() });
        }
        names::name(&memory, &image, &mut found);
        let mut preview = Preview {
            functions: Functions::of(&memory, (0, &image), &found.iter().collect::<Vec<_>>()),
            has_debug_file: image.debug_file.is_some(),
            other,
            notes,
            ..Preview::default()
        };
        let sections = debug_file::load(&image, None, &mut preview.notes).ok();
        let types = sections.as_ref().and_then(|sections| Types::load(sections).ok());
        for vtable in &found {
            let polled = types.as_ref().map_or_else(Vec::new, |types| types.polled(vtable.poll));
            let has_type = types.as_ref().is_some_and(|types| !types.polled_names(vtable.poll, &polled).is_empty());
            let count = match (&polled[..], &vtable.name) {
                ([one], _) if one.core.is_some() => &mut preview.chains,
                _ if has_type => &mut preview.types,
                (_, Name::Address { .. }) => &mut preview.states,
                _ => &mut preview.names,
            };
            *count += 1;
        }
        Ok(preview)
    }

    /// Returns the number of types of tasks; 0 if the file has no tokio.
    #[must_use]
    pub fn total(&self) -> usize {
        self.chains + self.types + self.names + self.states
    }
}

/// A file's segments at the addresses for which it was linked.
struct Linked<'a> {
    /// With the bytes of each.
    segments: Vec<(u64, &'a [u8])>,
    /// Words that the dynamic linker would write, in the order of their addresses.
    words: Vec<(u64, u64)>,
}

impl<'a> Linked<'a> {
    fn of(elf: &Elf<'a>, bytes: &'a [u8]) -> Linked<'a> {
        let loads = elf.elf_program_headers().iter().filter(|header| header.p_type(LittleEndian) == PT_LOAD);
        let segments = loads.filter_map(|load| {
            let (offset, size) = (load.p_offset(LittleEndian), load.p_filesz(LittleEndian));
            let (start, end) = (usize::try_from(offset).ok()?, usize::try_from(offset.checked_add(size)?).ok()?);
            Some((load.p_vaddr(LittleEndian), bytes.get(start..end)?))
        });
        let relative = match elf.elf_header().e_machine(LittleEndian) {
            EM_AARCH64 => R_AARCH64_RELATIVE,
            _ => R_X86_64_RELATIVE,
        };
        let relocations = elf.dynamic_relocations().into_iter().flatten();
        let relocations = relocations.filter(
            |(_, relocation)| matches!(relocation.flags(), RelocationFlags::Elf { r_type } if r_type == relative),
        );
        let mut words: Vec<(u64, u64)> =
            relocations.map(|(address, relocation)| (address, relocation.addend() as u64)).collect();
        words.sort_unstable();
        Linked { segments: segments.collect(), words }
    }
}

impl Memory for Linked<'_> {
    fn read(&self, address: u64, bytes: &mut [u8]) -> Result<(), Unreadable> {
        let from = self.segments.iter().find_map(|(start, segment)| {
            let skip = usize::try_from(address.checked_sub(*start)?).ok()?;
            segment.get(skip..skip.checked_add(bytes.len())?)
        });
        bytes.copy_from_slice(from.ok_or(Unreadable { address })?);
        let first = self.words.partition_point(|(at, _)| *at < address);
        for (at, word) in &self.words[first..] {
            let skip = usize::try_from(at - address).unwrap_or(usize::MAX);
            let Some(place) = skip.checked_add(8).and_then(|end| bytes.get_mut(skip..end)) else { break };
            place.copy_from_slice(&word.to_le_bytes());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_the_dynamic_linker_are_in_place() {
        let memory = Linked { segments: vec![(0x1000, &[0xff; 32])], words: vec![(0x1008, 7), (0x101c, 9)] };
        assert_eq!((memory.word(0x1000), memory.word(0x1008)), (Ok(u64::MAX), Ok(7)));
        assert_eq!(memory.word(0x1018), Ok(u64::MAX));
        assert_eq!(memory.word(0x1019), Err(Unreadable { address: 0x1019 }));
    }

    #[test]
    fn a_program_without_tokio_has_no_tasks() {
        assert_eq!(Preview::of(Path::new("/bin/sh")).unwrap(), Preview::default());
        assert!(matches!(Preview::of(Path::new("/proc/self/status")), Err(Error::File { .. } | Error::NotElf { .. })));
    }
}
