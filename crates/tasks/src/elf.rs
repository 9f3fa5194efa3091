//! ELF files, and their build ids.

use std::path::Path;

use object::elf::{ELF_NOTE_GNU, FileHeader64, NT_GNU_BUILD_ID, PT_NOTE};
use object::read::elf::{ElfFile64, FileHeader, ProgramHeader};
use object::{LittleEndian, Object, ObjectSection};

use crate::error::Error;

/// A parsed file. Parsing reads the headers only.
pub type Elf<'data> = ElfFile64<'data, LittleEndian>;

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

/// Returns the build id in the first bytes of an ELF file.
pub(crate) fn build_id_in(bytes: &[u8]) -> Option<&[u8]> {
    let header = FileHeader64::<LittleEndian>::parse(bytes).ok()?;
    let headers = header.program_headers(LittleEndian, bytes).ok()?;
    let segments = headers.iter().filter(|header| header.p_type(LittleEndian) == PT_NOTE);
    for mut notes in segments.filter_map(|segment| segment.notes(LittleEndian, bytes).ok().flatten()) {
        while let Ok(Some(note)) = notes.next() {
            if note.name() == ELF_NOTE_GNU && note.n_type(LittleEndian) == NT_GNU_BUILD_ID && !note.desc().is_empty() {
                return Some(note.desc());
            }
        }
    }
    None
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::hex;

    #[test]
    fn writes_build_ids_in_hexadecimal() {
        assert_eq!(hex(&[0x0a, 0xff]), "0aff");
    }
}
