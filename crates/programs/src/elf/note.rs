//! One stapsdt note, version 3: three addresses, three strings.

use object::Endianness;
use object::endian::Endian;

use super::operand::{self, Operand};

/// The type of a note is the version of its format.
pub const VERSION: object::elf::NoteType = object::elf::NoteType(3);

/// A probe site.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    pub provider: String,
    /// The name of the probe, with `__` for a hyphen.
    pub name: String,
    /// The address of the site, before the whole object is moved.
    pub location: u64,
    /// The address of `.stapsdt.base` when the note was written; 0 if the linker lost that section.
    pub base: u64,
    /// The address of the semaphore, if the probe has one.
    pub semaphore: Option<u64>,
    pub operands: Vec<Operand>,
}

impl Note {
    /// Parses a note's description. `None` if it ends too soon.
    pub fn parse(mut rest: &[u8], is_64: bool, endian: Endianness) -> Option<Note> {
        let mut address = || {
            if is_64 {
                let (word, tail) = rest.split_first_chunk::<8>()?;
                rest = tail;
                Some(endian.read_u64(*word))
            } else {
                let (word, tail) = rest.split_first_chunk::<4>()?;
                rest = tail;
                Some(u64::from(endian.read_u32(*word)))
            }
        };
        let (location, base, semaphore) = (address()?, address()?, address()?);
        let mut string = || {
            let end = rest.iter().position(|&byte| byte == 0)?;
            let text = String::from_utf8_lossy(&rest[..end]).into_owned();
            rest = &rest[end + 1..];
            Some(text)
        };
        let (provider, name, operands) = (string()?, string()?, string()?);
        Some(Note {
            provider,
            name,
            location,
            base,
            semaphore: (semaphore != 0).then_some(semaphore),
            operands: operand::parse_all(&operands),
        })
    }

    /// The name in tracers: `__` is a hyphen.
    pub fn tool_name(&self) -> String {
        self.name.replace("__", "-")
    }

    /// Corrects the addresses if the object was moved (prelinked) after linking, as every tracer does.
    pub(super) fn move_to(&mut self, base: u64) {
        if self.base != 0 {
            let moved = base.wrapping_sub(self.base);
            self.location = self.location.wrapping_add(moved);
            self.semaphore = self.semaphore.map(|semaphore| semaphore.wrapping_add(moved));
        }
    }
}
