//! The memory in a core file.
//!
//! The kernel leaves out pages that are as their files have them: the program's file fills them in. The core file itself is not mapped:
//! it may be large, and a user that may write it could end the reader by cutting it short.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use dyntrace_folders::open_regular;
use memmap2::Mmap;
use object::LittleEndian;
use object::elf::{ET_CORE, FileHeader64, PF_R, PF_W, PF_X, PT_LOAD, PT_NOTE};
use object::read::ReadCache;
use object::read::elf::{FileHeader, ProgramHeader};

use super::core_notes::Notes;
use super::maps::{HUGE, Mapping};
use super::resident::CHUNK;
use super::{Memory, Unreadable};
use crate::error::Error;

const WHAT: &str = "the core file";

/// The smallest page.
const PAGE: usize = 4096;

/// Bytes of the smallest mapping that allocators make. Each thread of Rust has a smaller one, its stack for signals, to which it does not
/// write until there is one.
const ALLOCATED: u64 = 64 << 10;

/// Program headers at most: each mapping has one.
const HEADERS: u32 = 1 << 22;

/// Files that a program compressed begin with these bytes.
const COMPRESSED: [(&[u8], &str); 5] = [
    (&[0x28, 0xb5, 0x2f, 0xfd], "zstd"),
    (&[0xfd, b'7', b'z', b'X', b'Z', 0], "xz"),
    (&[0x1f, 0x8b], "gzip"),
    (&[0x04, 0x22, 0x4d, 0x18], "lz4"),
    (b"BZh", "bzip2"),
];

/// Bytes of notes, at most: each mapping of a file has its path there.
const NOTES: u64 = 1 << 28;

/// A core file, and the files that fill its gaps.
#[derive(Debug)]
pub struct CoreFile {
    path: PathBuf,
    file: File,
    /// In bytes.
    length: u64,
    fill: Vec<Arc<Mmap>>,
    /// In order, but for those that the file's headers do not have, which follow.
    segments: Vec<Segment>,
    /// The number of those in order.
    in_headers: usize,
    /// Where the first page of each mapped file is.
    first_pages: HashMap<Arc<str>, u64>,
    /// In order and apart from each other.
    parts: Vec<Part>,
    notes: Notes,
    /// Bytes that the file would have if it were whole.
    whole: u64,
    /// Sentences for the user.
    pub(crate) remarks: Vec<String>,
}

#[derive(Debug)]
struct Segment {
    mapping: Mapping,
    /// Bytes from its beginning that the core file has, or would have if it were whole.
    dumped: u64,
}

impl Segment {
    fn start(&self) -> u64 {
        self.mapping.range.start
    }
}

/// Memory whose bytes are in a file.
#[derive(Debug)]
struct Part {
    range: Range<u64>,
    /// The place among the files that fill in, or the core file.
    fill: Option<usize>,
    /// Of the first byte.
    offset: u64,
}

impl CoreFile {
    /// Opens a core file.
    ///
    /// # Errors
    ///
    /// If it cannot be read, is compressed or no core file, or names no mapped files.
    pub fn open(path: &Path) -> Result<CoreFile, Error> {
        let failed = |error| Error::File { what: WHAT, path: path.to_owned(), error };
        let file = open_regular(path).map_err(failed)?;
        let length = file.metadata().map_err(failed)?.len();
        let mut magic = [0; 6];
        let read = file.read_at(&mut magic, 0).map_err(failed)?;
        if let Some((_, by)) = COMPRESSED.iter().find(|(begin, _)| magic[..read].starts_with(begin)) {
            return Err(Error::CompressedCore { path: path.to_owned(), by });
        }
        let mut core = CoreFile {
            path: path.to_owned(),
            file,
            length,
            fill: Vec::new(),
            segments: Vec::new(),
            in_headers: 0,
            first_pages: HashMap::new(),
            parts: Vec::new(),
            notes: Notes::default(),
            whole: 0,
            remarks: Vec::new(),
        };
        core.parse().map_err(|reason| Error::NotCore { path: path.to_owned(), reason })?;
        Ok(core)
    }

    fn parse(&mut self) -> Result<(), String> {
        let text = |error: object::Error| error.to_string();
        let bytes = &ReadCache::new(&self.file);
        let header = FileHeader64::<LittleEndian>::parse(bytes).map_err(text)?;
        if header.is_big_endian() || header.e_type(LittleEndian) != ET_CORE {
            return Err("it is a file of another kind".to_owned());
        }
        if header.phnum(LittleEndian, bytes).map_err(text)? > HEADERS {
            return Err("it has more program headers than a program can have mappings".to_owned());
        }
        let headers = header.program_headers(LittleEndian, bytes).map_err(text)?;
        let mut left = NOTES;
        for note in headers.iter().filter(|header| header.p_type(LittleEndian) == PT_NOTE) {
            let Some(rest) = left.checked_sub(note.p_filesz(LittleEndian)) else { break };
            left = rest;
            if let Ok(data) = note.data(LittleEndian, bytes) {
                self.notes.add(data, header.e_machine(LittleEndian));
            }
        }
        if self.notes.files.is_empty() {
            return Err("it does not say which files the program had mapped".to_owned());
        }
        let mut loads: Vec<_> = headers.iter().filter(|header| header.p_type(LittleEndian) == PT_LOAD).collect();
        loads.sort_by_key(|load| load.p_vaddr(LittleEndian));
        for load in loads {
            let (start, offset) = (load.p_vaddr(LittleEndian), load.p_offset(LittleEndian));
            let dumped = load.p_filesz(LittleEndian);
            let Some(end) = start.checked_add(load.p_memsz(LittleEndian).max(dumped)) else { continue };
            if start == end || self.segments.last().is_some_and(|last| start < last.mapping.range.end) {
                continue;
            }
            let flags = load.p_flags(LittleEndian).0;
            let mapping = self.notes.mapping(start..end, flags & PF_R.0 != 0, flags & PF_W.0 != 0, flags & PF_X.0 != 0);
            self.segments.push(Segment { mapping, dumped });
            self.whole = self.whole.max(offset.saturating_add(dumped));
            let there = self.length.saturating_sub(offset).min(dumped);
            if there > 0 {
                self.parts.push(Part { range: start..start + there, fill: None, offset });
            }
        }
        // A debugger leaves out mappings as a whole.
        self.in_headers = self.segments.len();
        for file in &self.notes.files {
            if file.offset == 0 {
                self.first_pages.entry(Arc::clone(&file.path)).or_insert(file.range.start);
            }
            if self.segment_of(file.range.start).is_none() && self.segment_of(file.range.end - 1).is_none() {
                let mapping = self.notes.mapping(file.range.clone(), true, file.path.starts_with(HUGE), false);
                self.segments.push(Segment { mapping, dumped: 0 });
            }
        }
        Ok(())
    }

    /// Finds `address` in the segments of the file's headers.
    fn segment_of(&self, address: u64) -> Option<&Segment> {
        let segments = &self.segments[..self.in_headers];
        let index = segments.partition_point(|segment| segment.mapping.range.end <= address);
        segments.get(index).filter(|segment| segment.mapping.range.contains(&address))
    }

    /// Returns the file's path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns where the program began.
    #[must_use]
    pub fn entry(&self) -> Option<u64> {
        self.notes.entry
    }

    /// Returns the mappings. Those that a debugger left out are taken for readable only.
    #[must_use]
    pub fn mappings(&self) -> Vec<Mapping> {
        self.segments.iter().map(|segment| segment.mapping.clone()).collect()
    }

    /// Returns memory below the stack pointers of threads, which is part of their stacks.
    #[must_use]
    pub fn stacks(&self) -> Vec<Range<u64>> {
        let below = |(_, pointer): &(u32, u64)| {
            let around = self.segment_of(*pointer).filter(|segment| segment.mapping.is_heap());
            around.map(|segment| segment.mapping.range.start..*pointer)
        };
        self.notes.threads.iter().filter_map(below).filter(|stack| !stack.is_empty()).collect()
    }

    /// Returns the bytes that the file lacks: it was cut short.
    #[must_use]
    pub fn missing(&self) -> u64 {
        self.whole.saturating_sub(self.length)
    }

    /// Returns the memory that the file lacks, in words, each with the way out. Memory that the program never wrote to is not in the file
    /// either, and the file does not tell which that is: so stacks must be there, and mappings as large as those of allocators.
    #[must_use]
    pub fn unread(&self) -> Vec<String> {
        let mut gaps = Vec::new();
        if self.missing() > 0 {
            gaps.push(format!(
                "the core file was cut short, {} bytes are missing; make room for whole core files, and raise the limit (ulimit -c unlimited)",
                self.missing()
            ));
        }
        let has = |address: u64| {
            self.segment_of(address).is_some_and(|segment| address - segment.mapping.range.start < segment.dumped)
        };
        let pointers: Vec<u64> = self.notes.threads.iter().map(|(_, pointer)| *pointer).filter(|it| *it != 0).collect();
        let stacks: HashSet<u64> = pointers.iter().filter_map(|it| self.segment_of(*it)).map(Segment::start).collect();
        let heaps = self.segments.iter().filter(|it| it.mapping.is_heap() && !stacks.contains(&it.start()));
        let size = |segment: &Segment| segment.mapping.range.end - segment.start();
        let lacks = |segment: &Segment| match segment.dumped {
            0 if size(segment) < ALLOCATED => 0,
            dumped => size(segment) - dumped,
        };
        let way_out = "set bit 0 of /proc/PID/coredump_filter while the program runs";
        match heaps.clone().map(lacks).sum() {
            _ if heaps.clone().all(|segment| segment.dumped == 0) => {
                gaps.push(format!("the core file lacks the program's anonymous memory; {way_out}"));
            }
            0_u64 => {}
            bytes => gaps.push(format!(
                "the core file lacks {bytes} of {} bytes of the program's anonymous memory: the program left them out (MADV_DONTDUMP), or never \
                 wrote to them",
                heaps.map(size).sum::<u64>()
            )),
        }
        match pointers.iter().filter(|pointer| !has(**pointer)).count() {
            0 => {}
            count => {
                gaps.push(format!("the core file lacks the stacks of {count} of {} threads; {way_out}", pointers.len()))
            }
        }
        gaps
    }

    /// Returns the first page of the mapped file `path`, if the core file has it.
    #[must_use]
    pub fn first_page(&self, path: &str) -> Option<Vec<u8>> {
        let start = *self.first_pages.get(path)?;
        self.part(start).filter(|part| part.fill.is_none())?;
        let mut page = vec![0; PAGE];
        self.read(start, &mut page).ok()?;
        Some(page)
    }

    /// Takes the parts of mapped files that the core file leaves out from `files`, which have a path and bytes.
    pub fn fill(&mut self, files: Vec<(String, Arc<Mmap>)>) {
        let places: HashMap<&str, usize> = files.iter().zip(0..).map(|((path, _), place)| (&**path, place)).collect();
        for Segment { mapping, dumped } in self.segments.iter().filter(|segment| !segment.mapping.writable) {
            let Some(&place) = places.get(&*mapping.path) else { continue };
            let start = mapping.range.start.saturating_add(*dumped);
            let offset = mapping.offset.saturating_add(*dumped);
            let there = (files[place].1.len() as u64).saturating_sub(offset);
            let range = start..mapping.range.end.min(start.saturating_add(there));
            if !range.is_empty() {
                self.parts.push(Part { range, fill: Some(place), offset });
            }
        }
        self.fill = files.into_iter().map(|(_, bytes)| bytes).collect();
        self.parts.sort_by_key(|part| part.range.start);
    }

    /// Passes each piece of `range` that the core file has to `take`, like [`Resident::read`](super::resident::Resident::read).
    /// Returns the number of bytes.
    pub fn present(&self, range: &Range<u64>, mut take: impl FnMut(u64, &[u8])) -> u64 {
        let mut total = 0;
        let mut buffer = vec![0; CHUNK];
        let first = self.parts.partition_point(|part| part.range.end <= range.start);
        let parts = self.parts[first..].iter().take_while(|part| part.range.start < range.end);
        for part in parts.filter(|part| part.fill.is_none()) {
            let start = part.range.start.max(range.start);
            let end = part.range.end.min(range.end);
            let of_file = |address: u64| part.offset + (address - part.range.start);
            self.without_holes(of_file(start)..of_file(end), |data| {
                for offset in data.clone().step_by(CHUNK) {
                    let chunk = &mut buffer[..(data.end - offset).min(CHUNK as u64) as usize];
                    // A user may have cut the file short since.
                    if self.file.read_exact_at(chunk, offset).is_ok() {
                        take(part.range.start + (offset - part.offset), chunk);
                        total += chunk.len() as u64;
                    }
                }
            });
        }
        total
    }

    /// Passes the parts of `range`, of the file, that are no holes: pages of zeros.
    fn without_holes(&self, range: Range<u64>, mut take: impl FnMut(Range<u64>)) {
        use rustix::fs::{SeekFrom, seek};
        let mut at = range.start;
        while at < range.end {
            let data = match seek(&self.file, SeekFrom::Data(at)) {
                Ok(data) => data.max(at),
                Err(rustix::io::Errno::NXIO) => return,
                // The file system does not tell holes.
                Err(_) => at,
            };
            if data >= range.end {
                return;
            }
            let hole = seek(&self.file, SeekFrom::Hole(data)).unwrap_or(range.end);
            let hole = if hole > data { hole.min(range.end) } else { range.end };
            // Pieces begin and end at pages, which in the file may begin anywhere.
            let data = data - (data - range.start) % PAGE as u64;
            let hole = (range.start + (hole - range.start).next_multiple_of(PAGE as u64)).min(range.end);
            take(data..hole);
            at = hole;
        }
    }

    fn part(&self, address: u64) -> Option<&Part> {
        let index = self.parts.partition_point(|part| part.range.end <= address);
        self.parts.get(index).filter(|part| part.range.contains(&address))
    }

    /// Copies bytes of `part` from `address` on, and returns how many.
    fn copy(&self, part: &Part, address: u64, bytes: &mut [u8]) -> Option<usize> {
        let length = usize::try_from(part.range.end - address).map_or(bytes.len(), |left| left.min(bytes.len()));
        let bytes = &mut bytes[..length];
        let offset = part.offset.checked_add(address - part.range.start)?;
        match part.fill {
            Some(place) => {
                let offset = usize::try_from(offset).ok()?;
                bytes.copy_from_slice(self.fill.get(place)?.get(offset..offset.checked_add(length)?)?);
            }
            None => self.file.read_exact_at(bytes, offset).ok()?,
        }
        Some(length)
    }
}

impl Memory for CoreFile {
    fn read(&self, address: u64, bytes: &mut [u8]) -> Result<(), Unreadable> {
        let mut rest = bytes;
        let mut at = Some(address);
        while !rest.is_empty() {
            let copied = at.and_then(|at| self.copy(self.part(at)?, at, rest));
            let copied = copied.ok_or(Unreadable { address })?;
            rest = &mut rest[copied..];
            at = at.and_then(|at| at.checked_add(copied as u64));
        }
        Ok(())
    }
}
