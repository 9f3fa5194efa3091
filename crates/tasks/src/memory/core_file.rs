//! The memory in a core file.
//!
//! The kernel leaves out pages that are as their files have them: the program's file fills them in.

use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use memmap2::Mmap;
use object::LittleEndian;
use object::elf::{ET_CORE, FileHeader64, PF_R, PF_W, PF_X, PT_LOAD, PT_NOTE};
use object::read::elf::{FileHeader, ProgramHeader};

use super::core_notes::Notes;
use super::maps::Mapping;
use super::resident::CHUNK;
use super::{Memory, Unreadable};
use crate::error::Error;
use crate::image;

const WHAT: &str = "the core file";

/// The smallest page.
const PAGE: usize = 4096;

/// A core file, and the files that fill its gaps.
#[derive(Debug)]
pub struct CoreFile {
    path: PathBuf,
    file: File,
    bytes: Mmap,
    fill: Vec<Arc<Mmap>>,
    segments: Vec<Segment>,
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

/// Memory whose bytes are in a file.
#[derive(Debug)]
struct Part {
    range: Range<u64>,
    /// The place among the files that fill in, or the core file.
    fill: Option<usize>,
    /// Of the first byte.
    offset: usize,
}

impl CoreFile {
    /// Opens a core file.
    ///
    /// # Errors
    ///
    /// If it cannot be read, is no core file, or names no mapped files.
    pub fn open(path: &Path) -> Result<CoreFile, Error> {
        let file = image::open(path).map_err(|source| Error::File { what: WHAT, path: path.to_owned(), source })?;
        // Core files are too large to be copied, and this one is the user's choice.
        let bytes = image::map(&file, path, WHAT)?;
        let mut core = CoreFile {
            path: path.to_owned(),
            file,
            bytes,
            fill: Vec::new(),
            segments: Vec::new(),
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
        let header = FileHeader64::<LittleEndian>::parse(&self.bytes[..]).map_err(text)?;
        if header.is_big_endian() || header.e_type(LittleEndian) != ET_CORE {
            return Err("it is a file of another kind".to_owned());
        }
        let headers = header.program_headers(LittleEndian, &self.bytes[..]).map_err(text)?;
        for note in headers.iter().filter(|header| header.p_type(LittleEndian) == PT_NOTE) {
            if let Ok(data) = note.data(LittleEndian, &self.bytes[..]) {
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
            let there = (self.bytes.len() as u64).saturating_sub(offset).min(dumped);
            if there > 0 {
                self.parts.push(Part { range: start..start + there, fill: None, offset: offset as usize });
            }
        }
        // A debugger leaves out mappings as a whole.
        let known = self.segments.len();
        for file in &self.notes.files {
            if self.segment_of(known, file.range.start).is_none()
                && self.segment_of(known, file.range.end - 1).is_none()
            {
                let mapping = self.notes.mapping(file.range.clone(), true, false, false);
                self.segments.push(Segment { mapping, dumped: 0 });
            }
        }
        Ok(())
    }

    /// Finds `address` in the first `count` segments, which are in order.
    fn segment_of(&self, count: usize, address: u64) -> Option<&Segment> {
        let index = self.segments[..count].partition_point(|segment| segment.mapping.range.end <= address);
        self.segments[..count].get(index).filter(|segment| segment.mapping.range.contains(&address))
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
            let heaps = self.segments.iter().filter(|segment| segment.mapping.is_heap());
            let mut around = heaps.filter(|segment| segment.mapping.range.contains(pointer));
            around.next().map(|segment| segment.mapping.range.start..*pointer)
        };
        self.notes.threads.iter().filter_map(below).filter(|stack| !stack.is_empty()).collect()
    }

    /// Returns the bytes that the file lacks: it was cut short.
    #[must_use]
    pub fn missing(&self) -> u64 {
        self.whole.saturating_sub(self.bytes.len() as u64)
    }

    /// Returns the first page of the mapped file `path`, if the core file has it.
    #[must_use]
    pub fn first_page(&self, path: &str) -> Option<&[u8]> {
        let first = self.notes.files.iter().find(|file| file.path == path && file.offset == 0)?;
        let part = self.part(first.range.start).filter(|part| part.fill.is_none())?;
        let page = self.bytes_of(part, first.range.start)?;
        page.get(..PAGE)
    }

    /// Takes the parts of the mapped file `path` that the core file leaves out from `bytes`.
    pub fn fill(&mut self, path: &str, bytes: Arc<Mmap>) {
        for segment in &self.segments {
            let Segment { mapping, dumped } = segment;
            if mapping.path != path || mapping.writable {
                continue;
            }
            let range = mapping.range.start.saturating_add(*dumped)..mapping.range.end;
            let Ok(offset) = usize::try_from(mapping.offset.saturating_add(*dumped)) else { continue };
            let there = bytes.len().saturating_sub(offset) as u64;
            let range = range.start..range.end.min(range.start.saturating_add(there));
            if !range.is_empty() {
                self.parts.push(Part { range, fill: Some(self.fill.len()), offset });
            }
        }
        self.fill.push(bytes);
        self.parts.sort_by_key(|part| part.range.start);
    }

    /// Passes each piece of `range` that the core file has to `take`, like [`Resident::read`](super::resident::Resident::read).
    /// Returns the number of bytes.
    pub fn present(&self, range: &Range<u64>, mut take: impl FnMut(u64, &[u8])) -> u64 {
        let mut total = 0;
        let first = self.parts.partition_point(|part| part.range.end <= range.start);
        let parts = self.parts[first..].iter().take_while(|part| part.range.start < range.end);
        for part in parts.filter(|part| part.fill.is_none()) {
            let start = part.range.start.max(range.start);
            let end = part.range.end.min(range.end);
            let of_file = |address: u64| part.offset + (address - part.range.start) as usize;
            self.without_holes(of_file(start)..of_file(end), |data| {
                for (index, chunk) in self.bytes[data.clone()].chunks(CHUNK).enumerate() {
                    let offset = data.start + index * CHUNK;
                    take(part.range.start + (offset - part.offset) as u64, chunk);
                    total += chunk.len() as u64;
                }
            });
        }
        total
    }

    /// Passes the parts of `range`, of the file, that are no holes: pages of zeros.
    fn without_holes(&self, range: Range<usize>, mut take: impl FnMut(Range<usize>)) {
        use rustix::fs::{SeekFrom, seek};
        let mut at = range.start;
        while at < range.end {
            let data = match seek(&self.file, SeekFrom::Data(at as u64)) {
                Ok(data) => (data as usize).max(at),
                Err(rustix::io::Errno::NXIO) => return,
                // The file system does not tell holes.
                Err(_) => at,
            };
            if data >= range.end {
                return;
            }
            let hole = seek(&self.file, SeekFrom::Hole(data as u64)).map_or(range.end, |hole| hole as usize);
            let hole = if hole > data { hole.min(range.end) } else { range.end };
            // Pieces begin and end at pages, which in the file may begin anywhere.
            let data = data - (data - range.start) % PAGE;
            let hole = (range.start + (hole - range.start).next_multiple_of(PAGE)).min(range.end);
            take(data..hole);
            at = hole;
        }
    }

    fn part(&self, address: u64) -> Option<&Part> {
        let index = self.parts.partition_point(|part| part.range.end <= address);
        self.parts.get(index).filter(|part| part.range.contains(&address))
    }

    /// Returns the bytes of `part` from `address` on.
    fn bytes_of(&self, part: &Part, address: u64) -> Option<&[u8]> {
        let file = match part.fill {
            Some(index) => self.fill.get(index)?,
            None => &self.bytes,
        };
        let length = usize::try_from(part.range.end - part.range.start).ok()?;
        let skip = usize::try_from(address.checked_sub(part.range.start)?).ok()?;
        file.get(part.offset..part.offset.checked_add(length)?)?.get(skip..)
    }
}

impl Memory for CoreFile {
    fn read(&self, address: u64, bytes: &mut [u8]) -> Result<(), Unreadable> {
        let mut rest = bytes;
        let mut at = Some(address);
        while !rest.is_empty() {
            let from = at.and_then(|at| self.bytes_of(self.part(at)?, at)).filter(|from| !from.is_empty());
            let from = from.ok_or(Unreadable { address })?;
            let length = from.len().min(rest.len());
            let (now, later) = rest.split_at_mut(length);
            now.copy_from_slice(&from[..length]);
            rest = later;
            at = at.and_then(|at| at.checked_add(length as u64));
        }
        Ok(())
    }
}
