//! The notes of a core file: which files the program had mapped, where it began, and the stack pointers of its threads.

use std::ops::Range;
use std::sync::Arc;

use object::LittleEndian;
use object::elf::{
    ELF_NOTE_CORE, EM_AARCH64, FileHeader64, Machine, NT_AUXV, NT_FILE, NT_PRPSINFO, NT_PRSTATUS, NoteType,
};
use object::read::elf::NoteIterator;

use super::maps::Mapping;
use super::word_at;

/// Entries of the auxiliary vector.
const AT_ENTRY: u64 = 9;
const AT_RANDOM: u64 = 25;

/// The contents of the notes of a core file.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Notes {
    /// Mapped files, in the order of their addresses.
    pub files: Vec<MappedFile>,
    /// Where the program began: `e_entry` of its file, and its bias.
    pub entry: Option<u64>,
    /// An address on the main thread's stack.
    pub main_stack: Option<u64>,
    /// The id of each thread, and its stack pointer.
    pub threads: Vec<(u32, u64)>,
    /// The id of the process, and of its main thread.
    pub process: Option<u32>,
}

/// A part of a file that the program had mapped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MappedFile {
    /// Its addresses.
    pub range: Range<u64>,
    /// Where in its file it begins, in bytes.
    pub offset: u64,
    /// As the kernel wrote it.
    pub path: Arc<str>,
}

impl Notes {
    /// Adds the notes of a segment, up to the first one that is damaged.
    pub fn add(&mut self, segment: &[u8], machine: Machine) {
        let Ok(mut notes) = NoteIterator::<FileHeader64<LittleEndian>>::new(LittleEndian, 4, segment) else { return };
        while let Ok(Some(note)) = notes.next() {
            if note.name() == ELF_NOTE_CORE {
                self.add_note(note.n_type(LittleEndian), note.desc(), machine);
            }
        }
        self.files.sort_by_key(|file| file.range.start);
        let main = self.threads.iter().find(|(thread, _)| Some(*thread) == self.process);
        self.main_stack = self.main_stack.or(main.map(|(_, pointer)| *pointer));
    }

    /// Returns the mapping at `range`: of a file, of the main thread's stack, or of nothing.
    #[must_use]
    pub fn mapping(&self, range: Range<u64>, readable: bool, writable: bool, executable: bool) -> Mapping {
        let after = self.files.partition_point(|file| file.range.start <= range.start);
        let file =
            after.checked_sub(1).map(|index| &self.files[index]).filter(|file| file.range.contains(&range.start));
        let (offset, inode, path) = match file {
            // The notes have no numbers of files.
            Some(file) => (file.offset.saturating_add(range.start - file.range.start), 1, Arc::clone(&file.path)),
            None if self.main_stack.is_some_and(|main| range.contains(&main)) => (0, 0, "[stack]".into()),
            None => (0, 0, Arc::default()),
        };
        // Memory that processes share is of a file, also without a name.
        Mapping { range, readable, writable, executable, shared: false, offset, device: (0, 0), inode, path }
    }

    fn add_note(&mut self, kind: NoteType, bytes: &[u8], machine: Machine) {
        match kind {
            NT_FILE => self.files.extend(files(bytes).unwrap_or_default()),
            NT_AUXV => {
                let pairs = bytes.chunks_exact(16).filter_map(|pair| Some((word_at(pair, 0)?, word_at(pair, 8)?)));
                for (key, value) in pairs {
                    match key {
                        AT_ENTRY => self.entry = Some(value),
                        AT_RANDOM => self.main_stack = Some(value),
                        _ => {}
                    }
                }
            }
            // struct elf_prpsinfo has pr_pid at 24; struct elf_prstatus has pr_pid at 32 and the registers at 112.
            NT_PRPSINFO => self.process = half_at(bytes, 24),
            NT_PRSTATUS => {
                let register = if machine == EM_AARCH64 { 31 } else { 19 };
                self.threads.extend(half_at(bytes, 32).zip(word_at(bytes, 112 + register * 8)));
            }
            _ => {}
        }
    }
}

fn half_at(bytes: &[u8], offset: usize) -> Option<u32> {
    let half = bytes.get(offset..offset.checked_add(4)?)?;
    half.try_into().ok().map(u32::from_le_bytes)
}

/// Parses NT_FILE: a count, the size of a page, then beginning, end and offset in pages of each, then their names.
fn files(bytes: &[u8]) -> Option<Vec<MappedFile>> {
    let (count, page) = (word_at(bytes, 0)?, word_at(bytes, 8)?);
    let length = usize::try_from(count).ok()?.checked_mul(24)?;
    let (entries, names) = bytes.get(16..)?.split_at_checked(length)?;
    let mut names = names.split(|byte| *byte == 0);
    let mut files = Vec::new();
    for entry in entries.chunks_exact(24) {
        let path = String::from_utf8_lossy(names.next()?).into();
        let (start, end, offset) = (word_at(entry, 0)?, word_at(entry, 8)?, word_at(entry, 16)?);
        if start < end {
            files.push(MappedFile { range: start..end, offset: offset.checked_mul(page)?, path });
        }
    }
    Some(files)
}

#[cfg(test)]
mod tests {
    use object::elf::EM_X86_64;
    use proptest::prelude::*;

    use super::*;

    /// A note, as the kernel writes it.
    fn note(kind: NoteType, words: &[u64], text: &[u8]) -> Vec<u8> {
        let desc: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).chain(text.iter().copied()).collect();
        let mut note: Vec<u8> = [5, desc.len() as u32, kind.0].iter().flat_map(|word| word.to_le_bytes()).collect();
        note.extend(b"CORE\0\0\0\0");
        note.extend(&desc);
        note.resize(note.len().next_multiple_of(4), 0);
        note
    }

    fn sound() -> Vec<u8> {
        let mut registers = [0; 42];
        (registers[4], registers[14 + 19]) = (4711, 0x7ffc_0000);
        let mut process = [0; 17];
        process[3] = 4711;
        [
            note(NT_PRSTATUS, &registers, b""),
            note(NT_PRPSINFO, &process, b""),
            note(NT_AUXV, &[9, 0x5000, 25, 0x7ffc_1000, 0, 0], b""),
            note(NT_FILE, &[2, 4096, 0x5000, 0x6000, 1, 0x4000, 0x5000, 0], b"/opt/a b\0/opt/c\0"),
        ]
        .concat()
    }

    fn parsed(bytes: &[u8]) -> Notes {
        let mut notes = Notes::default();
        notes.add(bytes, EM_X86_64);
        notes
    }

    #[test]
    fn parses_what_the_kernel_writes() {
        let file = |start, offset, path: &str| MappedFile { range: start..start + 0x1000, offset, path: path.into() };
        let expected = Notes {
            files: vec![file(0x4000, 0, "/opt/c"), file(0x5000, 4096, "/opt/a b")],
            entry: Some(0x5000),
            main_stack: Some(0x7ffc_1000),
            threads: vec![(4711, 0x7ffc_0000)],
            process: Some(4711),
        };
        assert_eq!(parsed(&sound()), expected);
    }

    #[test]
    fn a_count_of_files_beyond_the_note_gives_none() {
        assert_eq!(parsed(&note(NT_FILE, &[u64::MAX, 4096, 1, 2, 3], b"/a\0")), Notes::default());
        assert_eq!(parsed(&note(NT_FILE, &[1, u64::MAX, 1, 2, 3], b"/a\0")), Notes::default());
    }

    proptest! {
        #[test]
        fn never_panics(bytes: Vec<u8>, at in 0..600_usize, byte: u8) {
            parsed(&bytes);
            let _ = files(&bytes);
            let mut notes = sound();
            let at = at % notes.len();
            notes[at] = byte;
            parsed(&notes);
            parsed(&notes[..at]);
        }
    }
}
