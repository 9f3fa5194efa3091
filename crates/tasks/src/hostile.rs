//! The parsers of a program's file, of its memory and of its core file, for tests and for the fuzzer, which have no program.

use std::borrow::Cow;
use std::cell::Cell;
use std::fs::File;
use std::io::Write;
use std::os::fd::AsRawFd;
use std::path::PathBuf;

use crate::cell::HeaderLayout;
use crate::dwarf::{Sections, Types, read_all};
use crate::future::{Layout, Reader};
use crate::listing::{Await, Chain};
use crate::memory::core_file::CoreFile;
use crate::memory::maps::{self, ByFile};
use crate::memory::{Memory, Unreadable};
use crate::program::{Options, Program};
use crate::reading::{DebugInformation, Described};

/// The address of the function that polls the tasks.
const POLL: u64 = 0x1000;
/// The address of the cell of a task.
const CELL: u64 = 0x4000;
/// From the cell to the scheduler.
const SCHEDULER: u64 = 0x20;

/// Parts of an input: the lengths of the first two, of 2 bytes each, precede them.
struct Parts<'b> {
    abbreviations: &'b [u8],
    info: &'b [u8],
    rest: &'b [u8],
}

impl<'b> Parts<'b> {
    fn of(bytes: &'b [u8]) -> Option<Parts<'b>> {
        let (lengths, bytes) = bytes.split_first_chunk::<4>()?;
        let length = |low, high| usize::from(u16::from_le_bytes([low, high]));
        let (abbreviations, bytes) = bytes.split_at_checked(length(lengths[0], lengths[1]))?;
        let (info, rest) = bytes.split_at_checked(length(lengths[2], lengths[3]))?;
        Some(Parts { abbreviations, info, rest })
    }

    /// `others`: the bytes of each other section.
    fn sections(&self, others: &'b [u8]) -> Sections<'b> {
        Sections::of(|name| match name {
            ".debug_abbrev" => Cow::Borrowed(self.abbreviations),
            ".debug_info" => Cow::Borrowed(self.info),
            _ => Cow::Borrowed(others),
        })
    }
}

/// Reads all that debug information says.
pub fn dwarf(bytes: &[u8]) {
    if let Some(parts) = Parts::of(bytes) {
        read_all(&parts.sections(parts.rest));
    }
}

/// Reads a chain, by debug information and memory that need not fit.
///
/// # Panics
///
/// If it has more futures than the limits allow.
pub fn future(bytes: &[u8]) {
    let Some((parts, memory)) =
        Parts::of(bytes).and_then(|parts| Repeated::of(parts.rest).map(|memory| (parts, memory)))
    else {
        return;
    };
    let sections = parts.sections(&[]);
    let Ok(types) = Types::load(&sections) else { return };
    let reader = Reader { memory: &memory, types: &types, bias: 0, descriptors: None, now: Some(1), tasks: &|_| None };
    for polled in types.polled(POLL) {
        if let Some(layout) = Layout::of(&types, &HeaderLayout::default(), SCHEDULER, &polled)
            && let Chain::Read { root } = reader.chain(CELL, &layout, None)
        {
            assert!(count(&root) <= 1 << 18);
        }
    }
}

/// Reads the text of /proc/PID/maps.
pub fn maps(bytes: &[u8]) {
    let maps = maps::parse(bytes);
    let files = ByFile::new(&maps);
    for map in files.executables() {
        assert!(files.get(&map.path, map.inode, true, map.offset).is_some());
    }
    assert!(files.files().count() <= maps.len());
}

/// Reads a core file, and the program that it is said to be of. The length of the first, of 4 bytes, precedes both.
pub fn core(bytes: &[u8]) {
    if let Some((core, exe)) = core_and_program(bytes) {
        read_core(core, exe);
    }
}

fn core_and_program(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, bytes) = bytes.split_first_chunk()?;
    bytes.split_at_checked(u32::from_le_bytes(*length) as usize)
}

/// Returns the error of the first step that fails.
fn read_core(core: &[u8], exe: &[u8]) -> Option<crate::error::Error> {
    let path = |file: &File| PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()));
    // Without memory for these, nothing is tried.
    let (core, exe) = (in_memory(core)?, in_memory(exe)?);
    let read = match CoreFile::open(&path(&core)) {
        Ok(read) => read,
        Err(error) => return Some(error),
    };
    let _ = read.unread();
    for map in read.mappings() {
        let _ = read.first_page(&map.path);
        let _ = read.read(map.range.end.saturating_sub(4), &mut [0; 8]);
        read.present(&map.range, |_, _| {});
    }
    let program = match Program::open_core(&path(&core), &path(&exe), Options::default()) {
        Ok(program) => program,
        Err(error) => return Some(error),
    };
    let information = DebugInformation::of(&program);
    program.listing(&Described::of(&program, &information)).err()
}

/// A file with these bytes.
fn in_memory(bytes: &[u8]) -> Option<File> {
    let mut file = File::from(rustix::fs::memfd_create("hostile", rustix::fs::MemfdFlags::CLOEXEC).ok()?);
    file.write_all(bytes).ok().map(|()| file)
}

fn count(future: &Await) -> usize {
    1 + future.awaits.iter().map(count).sum::<usize>()
}

/// Memory that repeats some bytes from the cell on, and that changes after a number of reads.
struct Repeated<'b> {
    bytes: &'b [u8],
    changes_after: u32,
    reads: Cell<u32>,
}

impl<'b> Repeated<'b> {
    fn of(bytes: &'b [u8]) -> Option<Repeated<'b>> {
        let (changes_after, bytes) = bytes.split_first_chunk()?;
        let changes_after = u16::from_le_bytes(*changes_after).into();
        (!bytes.is_empty()).then_some(Repeated { bytes, changes_after, reads: Cell::new(0) })
    }
}

impl Memory for Repeated<'_> {
    fn read(&self, address: u64, into: &mut [u8]) -> Result<(), Unreadable> {
        if address > 1 << 40 {
            return Err(Unreadable { address });
        }
        self.reads.set(self.reads.get().saturating_add(1));
        let changed = u8::from(self.changes_after != 0 && self.reads.get().is_multiple_of(self.changes_after));
        // An address below the cell is a place, too.
        let beginning = (address.wrapping_sub(CELL) % self.bytes.len() as u64) as usize;
        for (byte, repeated) in into.iter_mut().zip(self.bytes.iter().cycle().skip(beginning)) {
            *byte = repeated ^ changed;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dwarf::sample::sample;

    const PAGE: usize = 4096;

    fn words(words: &[u64]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    /// An ELF file of this kind, whose program headers (kind, flags, offset, address, bytes in the file and in memory) come first.
    fn elf(kind: u16, entry: u64, headers: &[[u64; 6]]) -> Vec<u8> {
        let mut file = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0".to_vec();
        file.extend([kind, 62, 1, 0].iter().flat_map(|half| half.to_le_bytes()));
        file.extend(words(&[entry, 64, 0]));
        let sizes = [0, 0, 64, 56, headers.len() as u16, 0, 0, 0];
        file.extend(sizes.iter().flat_map(|half| half.to_le_bytes()));
        for [kind, flags, offset, address, bytes, memory] in headers {
            file.extend(words(&[kind | flags << 32, *offset, *address, 0, *bytes, *memory, PAGE as u64]));
        }
        file
    }

    fn note(name: &[u8; 4], kind: u32, desc: &[u8]) -> Vec<u8> {
        let name_length = if name.ends_with(b"\0") { 4 } else { 5 };
        let mut note: Vec<u8> = [name_length, desc.len() as u32, kind].iter().flat_map(|it| it.to_le_bytes()).collect();
        note.extend(name);
        note.resize(if name_length == 4 { 16 } else { 20 }, 0);
        note.extend(desc);
        note.resize(note.len().next_multiple_of(4), 0);
        note
    }

    /// A core file with the first page of its program, and the program, a page with a build id.
    fn core_seed() -> Vec<u8> {
        const START: u64 = 0x5000_0000;
        const FILE: u32 = 0x4649_4c45;
        let id = note(b"GNU\0", 3, &[7; 20]);
        let at = 64 + 2 * 56;
        let length = id.len() as u64;
        let mut exe = elf(3, 0x100, &[[1, 5, 0, 0, PAGE as u64, PAGE as u64], [4, 4, at, at, length, length]]);
        exe.extend(id);
        exe.resize(PAGE, 0);
        let mapped = [words(&[1, PAGE as u64, START, START + PAGE as u64, 0]), b"/opt/app\0".to_vec()].concat();
        let notes = [note(b"CORE", 6, &words(&[9, START + 0x100, 0, 0])), note(b"CORE", FILE, &mapped)].concat();
        let (length, page) = (notes.len() as u64, PAGE as u64);
        let mut core = elf(4, 0, &[[4, 0, at, 0, length, 0], [1, 5, at + length, START, page, page]]);
        core.extend(notes);
        core.extend(&exe);
        [&(core.len() as u32).to_le_bytes(), &core[..], &exe[..]].concat()
    }

    /// The inputs with which the fuzzer begins: the sample, a task that is suspended, and a core file.
    fn seeds() -> [(&'static str, Vec<u8>); 3] {
        let sample = sample();
        let mut seed = Vec::new();
        for part in [&sample.abbreviations, &sample.info] {
            seed.extend(u16::try_from(part.len()).unwrap().to_le_bytes());
        }
        seed.extend(sample.abbreviations);
        seed.extend(sample.info);
        // The state of an idle task; `Stage` is running, its coroutine in state 3, and pointers lead to the coroutine.
        let coroutine = CELL + SCHEDULER + 0x10;
        let words = [0xc0, 0, 0, 1, 0, 0, 3, coroutine, coroutine, coroutine];
        let memory = [0, 0].into_iter().chain(words.iter().flat_map(|word: &u64| word.to_le_bytes()));
        [("dwarf", seed.clone()), ("future", seed.into_iter().chain(memory).collect()), ("core", core_seed())]
    }

    #[test]
    fn the_seeds_of_the_fuzzer_are_understood() {
        for (name, seed) in seeds() {
            let path = format!("{}/fuzz/seeds/{name}/task", env!("CARGO_MANIFEST_DIR"));
            if std::env::var_os("DYNTRACE_WRITE_SEEDS").is_some() {
                std::fs::create_dir_all(std::path::Path::new(&path).parent().unwrap()).unwrap();
                std::fs::write(&path, &seed).unwrap();
            }
            assert!(std::fs::read(&path).unwrap() == seed, "{path} is old; write it with DYNTRACE_WRITE_SEEDS=1");
        }
        let [(_, of_dwarf), (_, of_future), (_, of_core)] = seeds();
        // It is understood up to the vtables of tasks, of which it has none.
        let (core, exe) = core_and_program(&of_core).unwrap();
        let error = read_core(core, exe);
        assert!(matches!(error, Some(crate::error::Error::CoreLacksMemory { .. })), "{error:?}");
        dwarf(&of_dwarf);
        future(&of_future);
        let parts = Parts::of(&of_future).unwrap();
        let sections = parts.sections(&[]);
        let types = Types::load(&sections).unwrap();
        let memory = Repeated::of(parts.rest).unwrap();
        let reader = Reader { memory: &memory, types: &types, bias: 0, descriptors: None, now: None, tasks: &|_| None };
        let layout = Layout::of(&types, &HeaderLayout::default(), SCHEDULER, &types.polled(POLL)[0]).unwrap();
        let Chain::Read { root } = reader.chain(CELL, &layout, None) else { panic!("no chain") };
        assert_eq!((&*root.future, root.awaits.len()), ("app::run", 1));
    }
}
