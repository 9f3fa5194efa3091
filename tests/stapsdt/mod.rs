//! Reads the stapsdt notes of an ELF file, as tracers do.

use std::env;
use std::fs;

#[cfg(target_pointer_width = "32")]
use object::elf::FileHeader32 as Header;
#[cfg(target_pointer_width = "64")]
use object::elf::FileHeader64 as Header;
use object::elf::NoteType;
use object::read::elf::{FileHeader, SectionHeader};
use object::{Endianness, File, Object, ObjectSection};

/// The type of stapsdt notes.
const NT_STAPSDT: NoteType = NoteType(3);

/// A probe site.
#[derive(Debug)]
pub struct Note {
    pub provider: String,
    pub name: String,
    /// `SIZE@OPERAND` of each argument; a negative size is that of a signed one.
    pub arguments: Vec<String>,
    pub location: u64,
    pub base: u64,
    pub semaphore: u64,
}

impl Note {
    /// Returns the sizes of the arguments.
    pub fn sizes(&self) -> Vec<&str> {
        self.arguments.iter().map(|argument| argument.split('@').next().unwrap_or_default()).collect()
    }
}

/// Returns the notes of the running test.
pub fn own() -> (Vec<u8>, Vec<Note>) {
    let file = fs::read(env::current_exe().expect("the test's path")).expect("the test's own file");
    let notes = read(&file);
    (file, notes)
}

/// Returns the notes of an ELF file with the word size of this test.
fn read(file: &[u8]) -> Vec<Note> {
    let header = Header::<Endianness>::parse(file).expect("an ELF file");
    let endian = header.endian().expect("its byte order");
    let sections = header.sections(endian, file).expect("its sections");
    let mut found = Vec::new();
    for section in sections.iter() {
        let Some(mut notes) = section.notes(endian, file).expect("a section") else { continue };
        while let Some(note) = notes.next().expect("a note") {
            if note.name() == b"stapsdt" && note.n_type(endian) == NT_STAPSDT {
                found.push(parse(note.desc()));
            }
        }
    }
    found
}

/// Three addresses, three strings.
fn parse(note: &[u8]) -> Note {
    let (words, texts) = note.split_at(3 * size_of::<usize>());
    let address = |at: usize| usize::from_ne_bytes(words.as_chunks().0[at]) as u64;
    let mut texts = texts.split(|byte| *byte == 0).map(|text| String::from_utf8_lossy(text).into_owned());
    let mut text = || texts.next().expect("a string");
    Note {
        location: address(0),
        base: address(1),
        semaphore: address(2),
        provider: text(),
        name: text(),
        arguments: text().split_whitespace().map(str::to_owned).collect(),
    }
}

/// Returns the first bytes of the instruction at an address of an ELF file.
pub fn instruction(file: &[u8], address: u64, length: u64) -> Vec<u8> {
    let file = File::parse(file).expect("an ELF file");
    let section =
        file.sections().find(|section| (section.address()..section.address() + section.size()).contains(&address));
    let section = section.expect("a section with the instruction");
    section.data_range(address, length).expect("its bytes").expect("in the section").to_vec()
}
