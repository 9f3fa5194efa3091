//! The probes in an ELF file: notes, and the segments that contain sites and semaphores.

mod note;
mod operand;

#[cfg(target_os = "linux")]
use std::cell::Cell;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use object::elf::{FileHeader32, FileHeader64};
use object::read::elf::{FileHeader, ProgramHeader, SectionHeader};
use object::read::{FileKind, ReadRef};
use object::{Endianness, elf};

pub use note::Note;
pub use operand::{Operand, OperandPlace, parse_all};

#[cfg(target_os = "linux")]
use crate::regular::Opened;
use crate::regular::{self, Pieces};

/// The most bytes that are read of a file: a probe takes about 200.
const MOST: u64 = 256 << 20;

/// The most bytes of a file that is copied because a server has it.
#[cfg(target_os = "linux")]
const COPIED: u64 = 1 << 30;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("cannot read {}", dyntrace_terminal::escape::path(path))]
    Open { path: PathBuf, source: io::Error },
    #[error("cannot read {}: not a regular file", dyntrace_terminal::escape::path(.0))]
    NotRegular(PathBuf),
    #[error("cannot read {}: not an ELF file", dyntrace_terminal::escape::path(.0))]
    NotElf(PathBuf),
    #[error("cannot read {}: damaged ELF file: {what}", dyntrace_terminal::escape::path(path))]
    Damaged { path: PathBuf, what: Damage },
}

impl Error {
    fn of(path: &Path, source: io::Error) -> Error {
        match source.kind() {
            io::ErrorKind::InvalidInput => Error::NotRegular(path.to_owned()),
            _ => Error::Open { path: path.to_owned(), source },
        }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum Damage {
    #[error(transparent)]
    Format(#[from] object::read::Error),
    /// All note sections together are longer than the file.
    #[error("its note sections overlap")]
    Overlap,
}

/// The bytes of code at a site that an object keeps: the longest of dyntrace's own sites fits.
const SITE: u64 = 16;

/// The beginning of wild's text in the section `.comment`, to which each tool adds its own.
const WILD: &[u8] = b"Linker: Wild version";

/// A part of the file that the loader puts into memory. Addresses are those before the whole object is moved.
#[derive(Clone, Debug)]
pub struct Segment {
    pub offset: u64,
    pub address: u64,
    pub file_size: u64,
    pub memory_size: u64,
    pub writable: bool,
    pub executable: bool,
}

impl Segment {
    /// Whether it contains `address` in memory.
    pub fn holds(&self, address: u64) -> bool {
        address.checked_sub(self.address).is_some_and(|at| at < self.memory_size)
    }

    /// Whether it contains `address` in the file, too.
    pub fn holds_in_file(&self, address: u64) -> bool {
        address.checked_sub(self.address).is_some_and(|at| at < self.file_size)
    }
}

#[derive(Debug, Default)]
pub struct Object {
    /// One for each probe site.
    pub notes: Vec<Note>,
    /// The first bytes of code at each site, in the order of the notes; none where the file has no code there.
    pub code: Vec<Vec<u8>>,
    /// The processor that the code is for.
    pub machine: elf::Machine,
    /// The errors in notes that cannot be read.
    pub broken: Vec<String>,
    /// Whether the linker was wild, which left out notes before version 0.7.
    pub is_linked_by_wild: bool,
    /// Whether there are semaphores of probes, which wild keeps.
    pub has_semaphores: bool,
    /// The address of the program's first instruction; 0 for a shared object.
    pub entry: u64,
    /// The address of `.stapsdt.base`, if the file has that section.
    pub base: Option<u64>,
    /// Whether addresses have 64 bits.
    pub is_64_bit: bool,
    /// The addresses of the sites of traced functions.
    pub sites: Range<u64>,
    /// The address of the word by which the process is asked for its control socket, if the file contains this library.
    pub asked: Option<u64>,
    pub segments: Vec<Segment>,
}

impl Object {
    /// The cause for which the file has no notes although its code has probes, if it is known.
    pub fn loss_of_notes(&self) -> Option<&'static str> {
        let is_lost = self.is_linked_by_wild && self.has_semaphores && self.notes.is_empty() && self.broken.is_empty();
        is_lost.then_some("it was linked by wild, which leaves probes out before version 0.7: link it by another linker, or by a newer wild")
    }

    pub fn read(path: &Path) -> Result<Object, Error> {
        Object::of_file(path, regular::open(path).map_err(|source| Error::of(path, source))?)
    }

    /// The same for a file that a process has mapped: does not wait for a server that never answers.
    #[cfg(target_os = "linux")]
    pub fn read_mapped(path: &Path) -> Result<Object, Error> {
        match regular::open_mapped(path, &Cell::new(COPIED), |_| Ok(())) {
            Ok(Opened::File(file)) => Object::of_file(path, file),
            Ok(Opened::Copy(copy)) => Object::of(path, &copy[..]),
            Err(source) => Err(Error::of(path, source)),
        }
    }

    #[cfg(not(target_os = "linux"))]
    pub fn read_mapped(path: &Path) -> Result<Object, Error> {
        Object::read(path)
    }

    fn of_file(path: &Path, file: File) -> Result<Object, Error> {
        let pieces = Pieces::new(file, MOST);
        let object = Object::of(path, &pieces);
        match (object, pieces.take_error()) {
            (Err(_), Some(source)) => Err(Error::Open { path: path.to_owned(), source }),
            (object, _) => object,
        }
    }

    fn of<'data, R: ReadRef<'data>>(path: &Path, data: R) -> Result<Object, Error> {
        match FileKind::parse(data) {
            Ok(FileKind::Elf32 | FileKind::Elf64) => {}
            _ => return Err(Error::NotElf(path.to_owned())),
        }
        Object::parse(data).map_err(|what| Error::Damaged { path: path.to_owned(), what })
    }

    pub fn parse<'data, R: ReadRef<'data>>(data: R) -> Result<Object, Damage> {
        match FileKind::parse(data)? {
            FileKind::Elf32 => parse_class::<FileHeader32<Endianness>, R>(data),
            _ => parse_class::<FileHeader64<Endianness>, R>(data),
        }
    }

    /// The segment that contains `address` in memory.
    pub fn segment(&self, address: u64) -> Option<&Segment> {
        self.segments.iter().find(|segment| segment.holds(address))
    }
}

fn parse_class<'data, E, R>(data: R) -> Result<Object, Damage>
where
    E: FileHeader<Endian = Endianness>,
    R: ReadRef<'data>,
{
    let header = E::parse(data)?;
    let endian = header.endian()?;
    let mut object = Object {
        machine: header.e_machine(endian),
        entry: header.e_entry(endian).into(),
        is_64_bit: header.is_class_64(),
        ..Object::default()
    };
    for segment in header.program_headers(endian, data)? {
        if segment.p_type(endian) == elf::PT_LOAD {
            let flags = segment.p_flags(endian);
            object.segments.push(Segment {
                offset: segment.p_offset(endian).into(),
                address: segment.p_vaddr(endian).into(),
                file_size: segment.p_filesz(endian).into(),
                memory_size: segment.p_memsz(endian).into(),
                writable: flags.0 & elf::PF_W.0 != 0,
                executable: flags.0 & elf::PF_X.0 != 0,
            });
        }
    }

    // Sections of a sound file do not overlap; a hostile one may name the same bytes a thousand times.
    let mut left = data.len().unwrap_or(0);
    let sections = header.sections(endian, data)?;
    for section in sections.iter() {
        match sections.section_name(endian, section) {
            Ok(b".stapsdt.base") => object.base = Some(section.sh_addr(endian).into()),
            Ok(b"dyntrace_asked") => object.asked = Some(section.sh_addr(endian).into()),
            Ok(b"dyntrace_traced") => {
                let start: u64 = section.sh_addr(endian).into();
                object.sites = start..start.saturating_add(section.sh_size(endian).into());
            }
            Ok(b".probes") => object.has_semaphores = true,
            Ok(b".comment") => {
                left = left.checked_sub(section.sh_size(endian).into()).ok_or(Damage::Overlap)?;
                let comment = section.data(endian, data).unwrap_or_default();
                object.is_linked_by_wild = comment.split(|byte| *byte == 0).any(|text| text.starts_with(WILD));
            }
            Ok(b".note.stapsdt") => {
                left = left.checked_sub(section.sh_size(endian).into()).ok_or(Damage::Overlap)?;
                let Some(mut notes) = section.notes(endian, data)? else { continue };
                while let Some(note) = notes.next()? {
                    if note.name() != b"stapsdt" || note.n_type(endian) != note::VERSION {
                        continue;
                    }
                    match Note::parse(note.desc(), header.is_class_64(), endian) {
                        Some(note) => object.notes.push(note),
                        None => object.broken.push(format!("note {} ends too soon", object.notes.len() + 1)),
                    }
                }
            }
            _ => {}
        }
    }
    if let Some(base) = object.base {
        object.notes.iter_mut().for_each(|note| note.move_to(base));
    }
    object.code = object.notes.iter().map(|note| code_at(&object.segments, note.location, data)).collect();
    Ok(object)
}

/// The bytes at an address of code that tell the form of a site.
fn code_at<'data, R: ReadRef<'data>>(segments: &[Segment], address: u64, data: R) -> Vec<u8> {
    let holds = |segment: &&Segment| segment.executable && segment.holds_in_file(address);
    let Some(segment) = segments.iter().find(holds) else { return Vec::new() };
    let at = address - segment.address;
    let length = (segment.file_size - at).min(SITE);
    data.read_bytes_at(segment.offset.saturating_add(at), length).map_or_else(|()| Vec::new(), <[u8]>::to_vec)
}

#[cfg(test)]
mod tests;
