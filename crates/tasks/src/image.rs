//! The files that a process has mapped to execute: its program and its libraries.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::ops::Range;
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use memmap2::Mmap;
use object::elf::{PF_X, PT_LOAD};
use object::read::elf::{ElfFile64, ProgramHeader};
use object::{LittleEndian, Object, ObjectSection, SectionKind};
use rustix::fs::{Mode, OFlags};

use crate::calls;
use crate::debug_file::DebugFile;
use crate::error::Error;
use crate::memory::live::Process;
use crate::memory::maps::Mapping;

/// A parsed file. Parsing reads the headers only.
pub type Elf<'data> = ElfFile64<'data, LittleEndian>;

/// An ELF file that the process has mapped.
#[derive(Debug)]
pub struct Image {
    /// As the process has it.
    pub path: PathBuf,
    /// The address in the process of the file's address 0.
    pub bias: u64,
    /// Of the file, if it has one.
    pub build_id: Option<Vec<u8>>,
    /// Code, in the file's addresses.
    pub text: Vec<Range<u64>>,
    /// Where constants with pointers can be, in the file's addresses.
    pub tables: Vec<Range<u64>>,
    /// A separate debug file.
    pub debug_file: Option<DebugFile>,
    /// A file with the split units of its debug information, if the user gave one.
    pub package: Option<DebugFile>,
    /// The user id of the file's owner.
    pub(crate) owner: u32,
    bytes: Mmap,
}

impl Image {
    /// Returns the file's bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the bytes of the file with debug information: the separate one, or the image itself. Addresses are the
    /// same in both. `None` if there is none.
    #[must_use]
    pub fn debug_bytes(&self) -> Option<&[u8]> {
        match &self.debug_file {
            Some(file) => Some(file.bytes()),
            None => has_debug_info(&self.bytes).then_some(&self.bytes[..]),
        }
    }

    /// Returns possible direct calls and jumps to functions, whose addresses in the file are `wanted`.
    pub(crate) fn calls(&self, wanted: &HashSet<u64>) -> Vec<(u64, u64)> {
        let Ok(elf) = Elf::parse(&self.bytes[..]) else { return Vec::new() };
        let sections = elf.sections().filter(|section| section.kind() == SectionKind::Text);
        let calls = sections.flat_map(|section| {
            let code = section.data().unwrap_or_default();
            calls::to(elf.architecture(), section.address(), code, wanted)
        });
        calls.collect()
    }

    /// Whether `address`, of the process, is in the image's code.
    #[must_use]
    pub fn has_code(&self, address: u64) -> bool {
        let address = address.wrapping_sub(self.bias);
        self.text.iter().any(|range| range.contains(&address))
    }
}

/// Opens the process's program and its libraries, the program first. Leaves out libraries that it cannot read.
///
/// # Errors
///
/// If the program itself cannot be read.
pub fn images(process: &Process, maps: &[Mapping]) -> Result<Vec<Image>, Error> {
    let link = process.proc("exe");
    let program = fs::read_link(&link).map_err(|source| refused(process, source))?;
    let file = File::open(&link).map_err(|source| refused(process, source))?;
    let found = image(&file, &program, |elf| bias(elf, &program, maps), "the program's file")?;
    let mut images = vec![found.ok_or_else(|| Error::NotMapped { pid: process.pid(), path: program.clone() })?];

    let mut paths: Vec<(&str, u64)> = maps
        .iter()
        .filter(|map| map.executable && map.path.starts_with('/') && Path::new(&map.path) != program)
        .map(|map| (map.path.as_str(), map.inode))
        .collect();
    paths.sort_unstable();
    paths.dedup();
    for (path, inode) in paths {
        // The process may see other files than the reader: in a container.
        let Ok(file) = open(Path::new(&process.proc(&format!("root{path}")))) else { continue };
        let same = file.metadata().is_ok_and(|metadata| metadata.ino() == inode);
        let path = Path::new(path);
        if same && let Ok(Some(library)) = image(&file, path, |elf| bias(elf, path, maps), "the library") {
            images.push(library);
        }
    }
    Ok(images)
}

/// Opens a file that the program has mapped. Returns `None` if `bias` does: it is not mapped.
pub(crate) fn image(
    file: &File,
    path: &Path,
    bias: impl FnOnce(&Elf<'_>) -> Option<u64>,
    what: &'static str,
) -> Result<Option<Image>, Error> {
    let bytes = map(file, path, what)?;
    let elf = parse(&bytes, path, what)?;
    let Some(bias) = bias(&elf) else { return Ok(None) };
    let build_id = build_id(&elf);
    let (text, tables) = (text(&elf), tables(&elf));
    let owner = file.metadata().map_err(|source| Error::File { what, path: path.to_owned(), source })?.uid();
    let path = path.to_owned();
    Ok(Some(Image { path, bias, build_id, text, tables, debug_file: None, package: None, owner, bytes }))
}

/// Opens a regular file. The path may be the program's choice: to open a pipe would wait for its other end, and to open some
/// devices has effects.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    let found = File::from(rustix::fs::open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?);
    if !found.metadata()?.is_file() {
        return Err(io::Error::new(ErrorKind::InvalidInput, "it is not a regular file"));
    }
    File::open(format!("/proc/self/fd/{}", found.as_raw_fd()))
}

/// Maps a file into the reader's memory.
pub(crate) fn map(file: &File, path: &Path, what: &'static str) -> Result<Mmap, Error> {
    // SAFETY: nobody writes to these files in place: the kernel refuses it for a running program, and compilers and
    // package managers replace files as a whole. A file that is cut short all the same ends the reader by SIGBUS.
    unsafe { Mmap::map(file) }.map_err(|source| Error::File { what, path: path.to_owned(), source })
}

pub(crate) fn parse<'data>(bytes: &'data [u8], path: &Path, what: &'static str) -> Result<Elf<'data>, Error> {
    Elf::parse(bytes).map_err(|error| Error::NotElf { what, path: path.to_owned(), reason: error.to_string() })
}

pub(crate) fn build_id(elf: &Elf<'_>) -> Option<Vec<u8>> {
    elf.build_id().ok().flatten().filter(|id| !id.is_empty()).map(<[u8]>::to_vec)
}

pub(crate) fn has_debug_info(bytes: &[u8]) -> bool {
    let Ok(elf) = Elf::parse(bytes) else { return false };
    // A stripped file can have the section's header without its bytes.
    elf.section_by_name(".debug_info").is_some_and(|section| section.file_range().is_some_and(|(_, size)| size > 0))
}

fn loads<'a>(elf: &'a Elf<'_>) -> impl Iterator<Item = (u64, Range<u64>, bool)> + 'a {
    elf.elf_program_headers().iter().filter(|header| header.p_type(LittleEndian) == PT_LOAD).map(|header| {
        let start = header.p_vaddr(LittleEndian);
        let range = start..start.saturating_add(header.p_memsz(LittleEndian));
        (header.p_offset(LittleEndian), range, header.p_flags(LittleEndian).0 & PF_X.0 != 0)
    })
}

/// Finds the segment of code among the mappings, and if the process has remapped it, any segment.
pub(crate) fn bias(elf: &Elf<'_>, path: &Path, maps: &[Mapping]) -> Option<u64> {
    let page = rustix::param::page_size() as u64;
    // The kernel escapes newlines in its list of mappings only.
    let path = path.to_string_lossy().replace('\n', "\\012");
    let of = |code: bool| {
        loads(elf).filter(move |(.., executable)| *executable == code).find_map(|(offset, range, executable)| {
            let map = maps
                .iter()
                .find(|map| map.path == path && map.offset == offset & !(page - 1) && map.executable == executable)?;
            Some(map.range.start.wrapping_sub(range.start & !(page - 1)))
        })
    };
    of(true).or_else(|| of(false))
}

fn sections(elf: &Elf<'_>, take: impl Fn(SectionKind, &str) -> bool) -> Vec<Range<u64>> {
    let sections =
        elf.sections().filter(|section| section.address() != 0 && take(section.kind(), section.name().unwrap_or("")));
    sections.map(|section| section.address()..section.address().saturating_add(section.size())).collect()
}

fn text(elf: &Elf<'_>) -> Vec<Range<u64>> {
    let sections = sections(elf, |kind, _| kind == SectionKind::Text);
    if sections.is_empty() { segments(elf, true) } else { sections }
}

/// `.data.rel.ro`, and without relocations `.rodata`; segments if the file has no section headers.
fn tables(elf: &Elf<'_>) -> Vec<Range<u64>> {
    let prefixes = [".data", ".rodata", ".ldata", ".lrodata"];
    let sections = sections(elf, |_, name| prefixes.iter().any(|prefix| name.starts_with(prefix)));
    if sections.is_empty() { segments(elf, false) } else { sections }
}

fn segments(elf: &Elf<'_>, code: bool) -> Vec<Range<u64>> {
    loads(elf).filter(|(.., executable)| *executable == code).map(|(_, range, _)| range).collect()
}

fn refused(process: &Process, source: io::Error) -> Error {
    let what = "the program's file";
    match process.check() {
        // Threads of the kernel have no program.
        Ok(()) if source.kind() == ErrorKind::NotFound => {
            Error::File { what, path: process.proc("exe").into(), source }
        }
        Ok(()) => Error::NotPermitted { pid: process.pid(), what, source },
        Err(ended) => ended,
    }
}
