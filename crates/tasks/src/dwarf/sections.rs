use std::borrow::Cow;
use std::convert::Infallible;
use std::sync::Arc;

use gimli::{DwarfPackageSections, DwarfSections, EndianSlice, LittleEndian};
use memmap2::Mmap;
use object::{Object, ObjectSection};

use super::entries::{Bytes, Dwarf};
use super::piece::{self, Piece};
use super::{limits, split};

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

impl From<gimli::Error> for Error {
    fn from(error: gimli::Error) -> Error {
        Error::Damaged(error)
    }
}

/// The DWARF sections of an ELF file, and of the further files that they refer to.
#[derive(Debug)]
pub struct Sections<'bytes> {
    main: DwarfSections<Piece<'bytes>>,
    /// The parts that dwz has moved out of several files into one.
    supplementary: Option<DwarfSections<Piece<'bytes>>>,
    /// Split units: many in a file, and one in each file.
    packages: Vec<DwarfPackageSections<Piece<'bytes>>>,
    objects: Vec<DwarfSections<Piece<'bytes>>>,
    /// Whether a further file is missing.
    pub(crate) is_incomplete: bool,
    /// Bytes that decompressed sections may still take.
    room: u64,
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
        let main = DwarfSections::load(|id| match piece::is_used(id) {
            true => piece::of(&file, id.name(), &mut room),
            false => Ok(Piece::Borrowed(&[])),
        })?;
        if file.section_by_name(".debug_info").is_none_or(|section| section.size() == 0) {
            return Err(Error::Missing);
        }
        Ok(Sections::new(main, room))
    }

    /// Sections without a file, for tests and for the fuzzer.
    pub(crate) fn of(section: impl Fn(&str) -> Cow<'bytes, [u8]>) -> Sections<'bytes> {
        let load = |id: gimli::SectionId| {
            Ok::<_, Infallible>(match section(id.name()) {
                Cow::Borrowed(bytes) => Piece::Borrowed(bytes),
                Cow::Owned(bytes) => Piece::Owned(bytes),
            })
        };
        let Ok(main) = DwarfSections::load(load);
        Sections::new(main, limits::DECOMPRESSED)
    }

    fn new(main: DwarfSections<Piece<'bytes>>, room: u64) -> Sections<'bytes> {
        Sections { main, supplementary: None, packages: Vec::new(), objects: Vec::new(), is_incomplete: false, room }
    }

    /// Adds the file of dwz's that `.gnu_debugaltlink` names.
    ///
    /// # Errors
    ///
    /// If it is no ELF file, or a section cannot be decompressed.
    pub(crate) fn add_supplementary(&mut self, file: &Arc<Mmap>) -> Result<(), Error> {
        let parsed = object::File::parse(&file[..]).map_err(Error::File)?;
        let sections = DwarfSections::load(|id| match piece::is_used(id) {
            true => piece::kept(file, &parsed, id.name(), &mut self.room),
            false => Ok(Piece::Borrowed(&[])),
        })?;
        self.supplementary = Some(sections);
        Ok(())
    }

    /// Adds a file with split units: a package (`.dwp`), or an object (`.dwo`).
    ///
    /// # Errors
    ///
    /// If it has no split units, is damaged, or a section cannot be decompressed.
    pub(crate) fn add_split(&mut self, file: &Arc<Mmap>) -> Result<(), Error> {
        let parsed = object::File::parse(&file[..]).map_err(Error::File)?;
        if parsed.section_by_name(".debug_info.dwo").is_none_or(|section| section.size() == 0) {
            return Err(Error::Missing);
        }
        let mut load = |id: gimli::SectionId| match id.dwo_name() {
            Some(name) => piece::kept(file, &parsed, name, &mut self.room),
            None => Ok(Piece::Borrowed(&[][..])),
        };
        if parsed.section_by_name(".debug_cu_index").is_none() {
            let used = |id| if piece::is_used(id) { load(id) } else { Ok(Piece::Borrowed(&[])) };
            self.objects.push(DwarfSections::load(used)?);
            return Ok(());
        }
        // a unit of a package has a part of each section, also of those that the reader does not ask for
        let package = DwarfPackageSections::load(&mut load)?;
        package.borrow(bytes, EndianSlice::new(&[], LittleEndian))?;
        self.packages.push(package);
        Ok(())
    }

    pub(crate) fn dwarf(&self) -> Dwarf<'_> {
        self.main.borrow_with_sup(self.supplementary.as_ref(), bytes)
    }

    pub(super) fn supplementary(&self) -> Option<Dwarf<'_>> {
        self.supplementary.as_ref().map(|sections| sections.borrow(bytes))
    }

    /// Finds the units that are in further files.
    pub(crate) fn skeletons(&self) -> Vec<split::Skeleton> {
        split::skeletons(&self.dwarf())
    }

    /// Returns the split units, each with the sections that it refers to. `main` is [`dwarf`](Self::dwarf).
    pub(crate) fn split<'a>(&'a self, main: &Dwarf<'a>) -> Vec<split::Unit<'a>> {
        let empty = EndianSlice::new(&[], LittleEndian);
        let packages = self.packages.iter().filter_map(|package| package.borrow(bytes, empty).ok());
        let mut units: Vec<split::Unit<'a>> = packages.flat_map(|package| split::of_package(&package, main)).collect();
        units.extend(self.objects.iter().filter_map(|object| split::of_object(object.borrow(bytes), main)));
        units
    }
}

fn bytes<'a>(piece: &'a Piece<'_>) -> Bytes<'a> {
    EndianSlice::new(piece, LittleEndian)
}
