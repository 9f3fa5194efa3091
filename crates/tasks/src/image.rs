//! The files that a process has mapped to execute: its program and its libraries.

use std::cell::Cell;
use std::collections::HashSet;
use std::fs;
use std::io::{self, ErrorKind};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use memmap2::Mmap;
use object::elf::{PF_X, PT_LOAD};
use object::read::elf::ProgramHeader;
use object::{LittleEndian, Object, ObjectSection, SectionKind};

use crate::aside::{Facts, Opened, Opener};
use crate::calls;
use crate::debug_file::DebugFile;
use crate::elf::{self, Elf, build_id, has_debug_info, parse};
use crate::error::Error;
use crate::memory::Memory;
use crate::memory::live::Process;
use crate::memory::maps::{ByFile, Mapping};
use crate::permission::way_to_mapped_files;

/// Bytes at most of a program's file and libraries that are copied.
pub(crate) const COPIED: u64 = 4 << 30;

/// Bytes of a file's beginning in memory, by which it is known.
const HEADER: usize = 4096;

/// Names in a note, at most.
const NAMED: usize = 5;

/// An ELF file that the process has mapped.
#[derive(Debug)]
pub struct Image {
    /// As the process has it.
    pub path: PathBuf,
    /// The address in the process of the file's address 0.
    pub bias: u64,
    /// Of the file, if it has one.
    pub build_id: Option<Vec<u8>>,
    /// Code, in the file's addresses: in order, and apart from each other.
    pub text: Vec<Range<u64>>,
    /// Where constants with pointers can be, in the file's addresses.
    pub tables: Vec<Range<u64>>,
    /// A separate debug file.
    pub debug_file: Option<DebugFile>,
    /// A file with the split units of its debug information, if the user gave one.
    pub package: Option<DebugFile>,
    /// The user id of the file's owner.
    pub(crate) owner: u32,
    bytes: Arc<Mmap>,
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
        contain(&self.text, address.wrapping_sub(self.bias))
    }
}

/// Returns the code of all images, in the process: in order, and apart from each other.
pub(crate) fn code(images: &[Image]) -> Vec<Range<u64>> {
    let in_process = |image: &Image, range: &Range<u64>| {
        let start = image.bias.wrapping_add(range.start);
        start..start.saturating_add(range.end.saturating_sub(range.start))
    };
    apart(images.iter().flat_map(|image| image.text.iter().map(move |range| in_process(image, range))).collect())
}

/// Whether one of `ranges` contains `address`. They are in order, and apart from each other.
pub(crate) fn contain(ranges: &[Range<u64>], address: u64) -> bool {
    let after = ranges.partition_point(|range| range.start <= address);
    after.checked_sub(1).is_some_and(|last| ranges[last].contains(&address))
}

#[cfg(test)]
impl Image {
    /// Returns an image without code that has these tables, for tests.
    pub(crate) fn sample(tables: &[Range<u64>]) -> Image {
        Image {
            path: "sample".into(),
            bias: 0,
            build_id: None,
            text: Vec::new(),
            tables: tables.to_vec(),
            debug_file: None,
            package: None,
            owner: 0,
            bytes: Arc::new(memmap2::MmapMut::map_anon(1).unwrap().make_read_only().unwrap()),
        }
    }
}

/// Opens the process's program and its libraries, the program first. Returns them, and sentences for the user about libraries that it
/// cannot read.
///
/// # Errors
///
/// If the program itself cannot be read.
pub fn images(process: &Process, maps: &[Mapping]) -> Result<(Vec<Image>, Vec<String>), Error> {
    let (room, opener) = (Cell::new(COPIED), Opener::default());
    let open = || {
        let link = process.proc("exe");
        Ok((fs::read_link(&link)?, opener.open(Path::new(&link), &room, |_| Ok(()))?))
    };
    let opened = process.by_living_thread(open)?;
    let (program, (facts, file)) = opened.map_err(|source| refused(process, source))?;
    let what = "the program's file";
    let bytes = file.read(&program, what, &room)?;
    let maps = ByFile::new(maps);
    let name = mapped_name(&program);
    let bias_of_program = |elf: &Elf<'_>| bias(elf, &name, maps.inode(&name)?, &maps);
    let found = image(facts.uid, &bytes, &program, bias_of_program, what)?;
    let mut images = vec![found.ok_or_else(|| Error::NotMapped { pid: process.pid(), path: program.clone() })?];

    let (mut notes, mut replaced) = (Vec::new(), Vec::new());
    for map in maps.executables().into_iter().filter(|map| *map.path != *name) {
        let Some(header) = header(process, map, &maps) else { continue };
        let path = Path::new(&*map.path);
        let opened = match mapped_file(process, map, &header, &opener, &room) {
            Ok(Some(opened)) => Ok(opened),
            Ok(None) => {
                replaced.push(&*map.path);
                continue;
            }
            Err(error) => Err(Error::File { what: "the library", path: path.to_owned(), error }),
        };
        let what = "the library";
        let library =
            opened.and_then(|(facts, file)| Ok((facts, file.read(path, what, &room)?))).and_then(|(facts, bytes)| {
                image(facts.uid, &bytes, path, |elf| bias(elf, &map.path, map.inode, &maps), what)
            });
        match library {
            Ok(library) => images.extend(library),
            Err(error) => {
                notes.push(of_unread(&error));
            }
        }
    }
    notes.extend(of_replaced(&replaced));
    Ok((images, notes))
}

/// Says that a library cannot be read.
pub(crate) fn of_unread(error: &Error) -> String {
    format!("Tasks whose code is in a library that cannot be read are missing: {error}.")
}

/// Says which libraries were replaced.
fn of_replaced(paths: &[&str]) -> Option<String> {
    let more = paths.len().saturating_sub(NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let named = paths.iter().take(NAMED).copied().collect::<Vec<_>>().join(", ");
    (!paths.is_empty()).then(|| {
        format!(
            "Libraries were replaced or deleted since the program mapped them, so tasks whose code is in them are missing: {named}{more}. {}",
            way_to_mapped_files()
        )
    })
}

/// Reads the beginning of the file of which `map` is a part, as the process has mapped it. `None` if it is no ELF file.
fn header(process: &Process, map: &Mapping, maps: &ByFile<'_>) -> Option<Vec<u8>> {
    let first = [false, true].into_iter().find_map(|executable| maps.get(&map.path, map.inode, executable, 0))?;
    let mut header = vec![0; HEADER];
    process.read(first.range.start, &mut header).ok()?;
    header.starts_with(b"\x7fELF").then_some(header)
}

/// Opens the file that the process has mapped at `map`, whose beginning is `header`. `None` if its path leads to another file by now, and
/// the kernel does not let the reader open the mapped one.
///
/// # Errors
///
/// If the file's server does not answer.
fn mapped_file(
    process: &Process,
    map: &Mapping,
    header: &[u8],
    opener: &Opener,
    room: &Cell<u64>,
) -> io::Result<Option<(Facts, Opened)>> {
    // The process may see other files than the reader: in a container.
    let at = |path: &str| process.proc(&format!("root{path}"));
    let is_mapped = |facts: &Facts| {
        if facts.inode == map.inode { Ok(()) } else { Err(ErrorKind::NotFound.into()) }
    };
    let open = |path: String, is_mapped: &dyn Fn(&Facts) -> io::Result<()>| match opener.open(
        Path::new(&path),
        room,
        is_mapped,
    ) {
        Err(error) if matches!(error.kind(), ErrorKind::TimedOut | ErrorKind::FileTooLarge) => Err(error),
        opened => Ok(opened.ok()),
    };
    if let Some(opened) = open(at(&map.path), &is_mapped)? {
        return Ok(Some(opened));
    }
    // The kernel demands capabilities of root for this.
    let mapped = process.proc(&format!("map_files/{:x}-{:x}", map.range.start, map.range.end));
    if let Some(opened) = open(mapped, &|_| Ok(()))? {
        return Ok(Some(opened));
    }
    // Another copy of the same build does as well. Some file systems of containers also show another inode than the kernel's list.
    let Some(wanted) = elf::build_id_in(header) else { return Ok(None) };
    let opened = open(at(map.path.strip_suffix(" (deleted)").unwrap_or(&map.path)), &|_| Ok(()))?;
    let mut found = vec![0; HEADER];
    Ok(opened.filter(|(_, file)| file.begins(&mut found) && elf::build_id_in(&found) == Some(wanted)))
}

/// Returns the image of a file that the program has mapped, whose owner is `owner` and whose bytes are `bytes`. Returns `None` if `bias` does: it is not mapped.
pub(crate) fn image(
    owner: u32,
    bytes: &Arc<Mmap>,
    path: &Path,
    bias: impl FnOnce(&Elf<'_>) -> Option<u64>,
    what: &'static str,
) -> Result<Option<Image>, Error> {
    let elf = parse(bytes, path, what)?;
    let Some(bias) = bias(&elf) else { return Ok(None) };
    let build_id = build_id(&elf);
    let (text, tables) = (text(&elf), tables(&elf));
    let (path, bytes) = (path.to_owned(), Arc::clone(bytes));
    Ok(Some(Image { path, bias, build_id, text, tables, debug_file: None, package: None, owner, bytes }))
}

fn loads<'a>(elf: &'a Elf<'_>) -> impl Iterator<Item = (u64, Range<u64>, bool)> + 'a {
    elf.elf_program_headers().iter().filter(|header| header.p_type(LittleEndian) == PT_LOAD).map(|header| {
        let start = header.p_vaddr(LittleEndian);
        let range = start..start.saturating_add(header.p_memsz(LittleEndian));
        (header.p_offset(LittleEndian), range, header.p_flags(LittleEndian).0 & PF_X.0 != 0)
    })
}

/// Returns a file's path as the kernel's list of mappings has it: with newlines escaped.
pub(crate) fn mapped_name(path: &Path) -> String {
    path.to_string_lossy().replace('\n', "\\012")
}

/// Finds the segment of code of the file among the mappings, and if the process has remapped it, any segment.
pub(crate) fn bias(elf: &Elf<'_>, path: &str, inode: u64, maps: &ByFile<'_>) -> Option<u64> {
    let page = rustix::param::page_size() as u64;
    let of = |code: bool| {
        loads(elf).filter(move |(.., executable)| *executable == code).find_map(|(offset, range, executable)| {
            let map = maps.get(path, inode, executable, offset & !(page - 1))?;
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
    apart(if sections.is_empty() { segments(elf, true) } else { sections })
}

/// Puts ranges in order, and joins those that touch or overlap: a damaged file can have any.
fn apart(mut ranges: Vec<Range<u64>>) -> Vec<Range<u64>> {
    ranges.sort_unstable_by_key(|range| range.start);
    ranges.dedup_by(|next, range| {
        let touches = next.start <= range.end;
        if touches {
            range.end = range.end.max(next.end);
        }
        touches
    });
    ranges
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

fn refused(process: &Process, error: io::Error) -> Error {
    let what = "the program's file";
    match error.kind() {
        // Threads of the kernel have no program, and no permission makes a server answer.
        ErrorKind::NotFound | ErrorKind::TimedOut | ErrorKind::FileTooLarge => {
            Error::File { what, path: process.proc("exe").into(), error }
        }
        _ => Error::NotPermitted { pid: process.pid(), what, error },
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use memmap2::MmapOptions;

    use super::*;
    use crate::silent;

    /// Maps the first page and the code of an ELF file to execute.
    fn mapped(path: &Path) -> [Mmap; 2] {
        let file = File::open(path).unwrap();
        let bytes = fs::read(path).unwrap();
        let elf = Elf::parse(&*bytes).unwrap();
        let (offset, range, _) = loads(&elf).find(|(.., executable)| *executable).unwrap();
        let page = rustix::param::page_size() as u64;
        let (start, length) = (offset & !(page - 1), (range.end - range.start) as usize);
        // SAFETY: the test replaces the file, and does not write to it.
        let map = |start, length| unsafe { MmapOptions::new().offset(start).len(length).map_exec(&file).unwrap() };
        [map(0, HEADER), map(start, length)]
    }

    #[test]
    fn a_library_that_was_replaced_is_read_or_told() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("library.so");
        fs::copy("/bin/sh", &path).unwrap();
        let _mapped = mapped(&path);
        let process = Process::open(std::process::id()).unwrap();
        let look = || {
            let (images, notes) = images(&process, &process.mappings().unwrap()).unwrap();
            let found = images.into_iter().find(|image| image.path.to_str().unwrap().contains("library.so"));
            (found.map(|image| image.bytes().len() as u64), notes.iter().any(|note| note.contains("library.so")))
        };
        let size = fs::metadata("/bin/sh").unwrap().len();
        assert_eq!(look(), (Some(size), false));
        // Another copy of the same build.
        fs::remove_file(&path).unwrap();
        fs::copy("/bin/sh", &path).unwrap();
        assert_eq!(look(), (Some(size), false));
        fs::remove_file(&path).unwrap();
        fs::write(&path, "another").unwrap();
        assert!([(Some(size), false), (None, true)].contains(&look()));
    }

    #[test]
    fn a_library_whose_server_never_answers_holds_up_nobody() {
        let Some(server) = silent::Server::start() else {
            println!("left out: FUSE cannot be mounted here");
            return;
        };
        let path = server.file();
        let file = File::open(&path).unwrap();
        // SAFETY: the test reads none of its bytes itself.
        let mapped = unsafe { MmapOptions::new().len(HEADER).map_exec(&file).unwrap() };
        drop(file);
        server.fall_silent();
        let process = Process::open(std::process::id()).unwrap();
        let maps = process.mappings().unwrap();
        let (images, _) = images(&process, &maps).unwrap();
        assert!(images.iter().all(|image| image.path != path));
        let start = mapped.as_ptr().addr() as u64;
        assert!(process.word(start).is_err() && process.word(start - 4).is_err());
        assert!(!process.needs_no_server(start, 1) && process.needs_no_server(start - 4, 4));
        assert_eq!(process.left_out(), 1);
        let opener = Opener::with_patience(std::time::Duration::from_millis(50));
        let map = maps.iter().find(|map| map.range.contains(&start)).unwrap();
        let error = mapped_file(&process, map, &[], &opener, &Cell::new(COPIED)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TimedOut, "{error}");
        assert!(opener.open(Path::new("/bin/sh"), &Cell::new(COPIED), |_| Ok(())).is_ok());
    }

    #[test]
    fn replaced_libraries_are_named() {
        assert_eq!(of_replaced(&[]), None);
        let told = of_replaced(&["/1", "/2", "/3", "/4", "/5", "/6", "/7"]).unwrap();
        assert!(told.contains(": /1, /2, /3, /4, /5 and 2 more. "), "{told}");
    }

    #[test]
    fn ranges_are_joined_where_they_touch() {
        assert_eq!(apart(vec![7..9, 1..3, 3..4, 2..3, 9..9]), [1..4, 7..9]);
    }
}
