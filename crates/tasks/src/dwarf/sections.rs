use std::borrow::Cow;

use gimli::SectionId;
use object::{CompressionFormat, Object, ObjectSection};

use super::entries::Bytes;
use super::limits;

/// Debug information that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The bytes are no ELF file.
    #[error("cannot read the file as ELF: {0}")]
    File(object::Error),
    /// A section is compressed in an unknown way, or is damaged.
    #[error("cannot read section {section}: {error}; decompress it with `objcopy --decompress-debug-sections`")]
    Section {
        /// Its name.
        section: &'static str,
        /// From the library that reads it.
        error: object::Error,
    },
    /// A compressed section says that it is larger than the reader accepts.
    #[error(
        "section {section} has {size} bytes when decompressed, more than the reader accepts; is the file damaged? If not, decompress it \
         with `objcopy --decompress-debug-sections`"
    )]
    TooLarge {
        /// Its name.
        section: &'static str,
        /// When decompressed.
        size: u64,
    },
    /// The file has none. It was stripped, or built without `debug = 2`.
    #[error("the file has no debug information; build with `debug = 2`, or name its debug file")]
    Missing,
    /// No unit can be read.
    #[error("cannot read the debug information: {0}")]
    Damaged(gimli::Error),
}

/// The DWARF sections of an ELF file: borrowed, or decompressed.
#[derive(Debug)]
pub struct Sections<'bytes> {
    sections: gimli::DwarfSections<Cow<'bytes, [u8]>>,
}

impl<'bytes> Sections<'bytes> {
    /// Finds the sections in the bytes of a file.
    ///
    /// # Errors
    ///
    /// If the file is no ELF file, has no debug information, or a section cannot be decompressed.
    pub fn load(file: &'bytes [u8]) -> Result<Sections<'bytes>, Error> {
        let file = object::File::parse(file).map_err(Error::File)?;
        let mut room = limits::DECOMPRESSED;
        let sections = gimli::DwarfSections::load(|id| match used(id) {
            true => section(&file, id.name(), &mut room),
            false => Ok(Cow::Borrowed(&[][..])),
        })?;
        if file.section_by_name(".debug_info").is_none_or(|section| section.size() == 0) {
            return Err(Error::Missing);
        }
        Ok(Sections { sections })
    }

    /// Sections without a file.
    #[cfg(test)]
    pub(crate) fn of(section: impl Fn(&str) -> Cow<'bytes, [u8]>) -> Sections<'bytes> {
        let load = |id: SectionId| Ok::<_, std::convert::Infallible>(section(id.name()));
        let Ok(sections) = gimli::DwarfSections::load(load);
        Sections { sections }
    }

    pub(crate) fn dwarf(&self) -> gimli::Dwarf<gimli::EndianSlice<'_, gimli::LittleEndian>> {
        self.sections.borrow(|bytes| Bytes::new(bytes, gimli::LittleEndian))
    }
}

/// Whether the reader asks for anything in a section. The others, with the places of variables among them, are large.
fn used(id: SectionId) -> bool {
    let used = [
        SectionId::DebugAbbrev,
        SectionId::DebugAddr,
        SectionId::DebugAranges,
        SectionId::DebugInfo,
        SectionId::DebugLine,
        SectionId::DebugLineStr,
        SectionId::DebugRanges,
        SectionId::DebugRngLists,
        SectionId::DebugStr,
        SectionId::DebugStrOffsets,
    ];
    used.contains(&id)
}

/// Returns a section's bytes, which are empty if there is none. Takes what it allocates from `room`.
fn section<'bytes>(
    file: &object::File<'bytes>,
    name: &'static str,
    room: &mut u64,
) -> Result<Cow<'bytes, [u8]>, Error> {
    let Some(found) = file.section_by_name(name) else { return Ok(Cow::Borrowed(&[])) };
    let failed = |error| Error::Section { section: name, error };
    let bytes = found.compressed_data().map_err(failed)?;
    if bytes.format != CompressionFormat::None {
        // The decompressor allocates as many bytes as the file says.
        let size = bytes.uncompressed_size;
        let most = (bytes.data.len() as u64).saturating_mul(limits::EXPANSION).min(*room);
        *room = room.checked_sub(size).filter(|_| size <= most).ok_or(Error::TooLarge { section: name, size })?;
    }
    bytes.decompress().map_err(failed)
}
