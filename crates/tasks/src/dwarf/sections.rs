use std::borrow::Cow;

use object::{Object, ObjectSection};

use super::entries::Bytes;
use super::limits;

/// Debug information that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The bytes are no ELF file.
    #[error("cannot read the file as ELF: {0}")]
    File(object::Error),
    /// A section is compressed in a way that this build does not know, or is damaged.
    #[error("cannot read section {section}: {error}; decompress it with `objcopy --decompress-debug-sections`")]
    Section {
        /// Its name.
        section: &'static str,
        /// From the library that reads it.
        error: object::Error,
    },
    /// A section is larger than the reader accepts.
    #[error("section {section} has {size} bytes, more than the reader accepts")]
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
        let sections = gimli::DwarfSections::load(|id| section(&file, id.name()))?;
        if file.section_by_name(".debug_info").is_none_or(|section| section.size() == 0) {
            return Err(Error::Missing);
        }
        Ok(Sections { sections })
    }

    /// Sections without a file, for tests and for the fuzzer.
    pub(crate) fn of(section: impl Fn(&str) -> Cow<'bytes, [u8]>) -> Sections<'bytes> {
        let load = |id: gimli::SectionId| Ok::<_, std::convert::Infallible>(section(id.name()));
        let Ok(sections) = gimli::DwarfSections::load(load);
        Sections { sections }
    }

    pub(crate) fn dwarf(&self) -> gimli::Dwarf<gimli::EndianSlice<'_, gimli::LittleEndian>> {
        self.sections.borrow(|bytes| Bytes::new(bytes, gimli::LittleEndian))
    }
}

fn section<'bytes>(file: &object::File<'bytes>, name: &'static str) -> Result<Cow<'bytes, [u8]>, Error> {
    let Some(found) = file.section_by_name(name) else { return Ok(Cow::Borrowed(&[])) };
    let failed = |error| Error::Section { section: name, error };
    let size = found.compressed_data().map_err(failed)?.uncompressed_size;
    if size > limits::SECTION {
        return Err(Error::TooLarge { section: name, size });
    }
    found.uncompressed_data().map_err(failed)
}
