//! The debug information and symbols of a program's file, and of the files with split units that it names.
//!
//! A trace or a program of another user chooses all these files. So no library opens them: each is opened by [`regular`], and copied, as a
//! file that is cut short while it is mapped would end the command.

use std::cell::{Cell, OnceCell};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use addr2line::{Context, LookupContinuation as _, LookupResult, SplitDwarfLoad};
use gimli::{Dwarf, DwarfPackage, EndianArcSlice, Error, Reader as _, RunTimeEndian, SectionId};
use object::{Object as _, ObjectSection as _};

use super::code::{Function, described};
use crate::regular;

type Bytes = EndianArcSlice<RunTimeEndian>;

/// The most bytes that are read and kept of a program's files.
pub const MOST: u64 = 4 << 30;
/// The most decompressed bytes for each compressed one: zlib reaches no more.
const EXPANSION: u64 = 1032;

pub struct Debug {
    /// `None` if the file has no debug information that can be read.
    context: Option<Context<Bytes>>,
    /// The path of the package of split units, and the package once it was looked for.
    package: (PathBuf, OnceCell<Option<DwarfPackage<Bytes>>>),
    /// In order of their addresses: address, size, name.
    symbols: Vec<(u64, u64, Box<str>)>,
    /// Bytes that further files may take.
    left: Cell<u64>,
}

impl Debug {
    /// `None` for a file that cannot be read, or is not a regular file.
    pub fn of(path: &Path) -> Option<Debug> {
        let left = Cell::new(MOST);
        let bytes = regular::read(path, &left).ok()?;
        let file = object::File::parse(&*bytes).ok()?;
        let mut dwarf = Dwarf::load(|id| Ok::<_, Error>(section(&file, id.name(), is_used(id), &left))).ok()?;
        dwarf.populate_abbreviations_cache(gimli::AbbreviationsCacheStrategy::Duplicates);
        let map = file.symbol_map();
        let symbols =
            map.symbols().iter().map(|symbol| (symbol.address(), symbol.size(), symbol.name().into())).collect();
        // The whole file is gone again; its sections and symbols stay.
        left.set(left.get() + bytes.len() as u64);
        let package = (path.with_added_extension("dwp"), OnceCell::new());
        Some(Debug { context: Context::from_dwarf(dwarf).ok(), package, symbols, left })
    }

    /// The bytes that it keeps.
    pub fn kept(&self) -> u64 {
        MOST - self.left.get()
    }

    /// The functions at an address, by debug information, the innermost first.
    pub fn frames(&self, address: u64) -> Vec<Function> {
        let Some(context) = &self.context else { return Vec::new() };
        let mut found = context.find_frames(address);
        loop {
            found = match found {
                LookupResult::Output(frames) => return frames.map(described).unwrap_or_default(),
                LookupResult::Load { load, continuation } => continuation.resume(self.split(&load)),
            };
        }
    }

    /// The name of the symbol that contains the address.
    pub fn symbol(&self, address: u64) -> Option<&str> {
        let after = self.symbols.partition_point(|(start, ..)| *start <= address);
        let (start, size, name) = self.symbols.get(after.checked_sub(1)?)?;
        (*size == 0 || address - start < *size).then_some(name)
    }

    /// A split unit: of the package beside the program, else of the file that the program names.
    fn split(&self, load: &SplitDwarfLoad<Bytes>) -> Option<Arc<Dwarf<Bytes>>> {
        let (path, package) = &self.package;
        if let Some(package) = package.get_or_init(|| self.package(path))
            && let Ok(Some(unit)) = package.find_cu(load.dwo_id, &load.parent)
        {
            return Some(Arc::new(unit));
        }
        let text = |bytes: &Bytes| Some(PathBuf::from(OsStr::from_bytes(&bytes.to_slice().ok()?)));
        let folder = load.comp_dir.as_ref().and_then(text).unwrap_or_default();
        let bytes = regular::read(&folder.join(text(load.path.as_ref()?)?), &self.left).ok()?;
        let file = object::File::parse(&*bytes).ok()?;
        let of_unit = |id: SectionId| section(&file, id.dwo_name().unwrap_or_default(), true, &self.left);
        let mut dwarf = Dwarf::load(|id| Ok::<_, Error>(of_unit(id))).ok()?;
        let unit = dwarf.unit(dwarf.units().next().ok()??).ok()?;
        if unit.dwo_id != Some(load.dwo_id) {
            return None;
        }
        dwarf.make_dwo(&load.parent);
        Some(Arc::new(dwarf))
    }

    fn package(&self, path: &Path) -> Option<DwarfPackage<Bytes>> {
        let bytes = regular::read(path, &self.left).ok()?;
        let file = object::File::parse(&*bytes).ok()?;
        let of_package = |id: SectionId| section(&file, id.dwo_name().unwrap_or_default(), true, &self.left);
        DwarfPackage::load(|id| Ok::<_, Error>(of_package(id)), section(&file, "", false, &self.left)).ok()
    }
}

/// The bytes of a section, taken from `left`. None if the section is missing, damaged or too large.
fn section(file: &object::File<'_>, name: &str, is_used: bool, left: &Cell<u64>) -> Bytes {
    let endian = if file.is_little_endian() { RunTimeEndian::Little } else { RunTimeEndian::Big };
    let read = || {
        let data = file.section_by_name(name).filter(|_| is_used)?.compressed_data().ok()?;
        let size = data.uncompressed_size;
        let rest = left.get().checked_sub(size)?;
        if size > (data.data.len() as u64).saturating_mul(EXPANSION) {
            return None;
        }
        left.set(rest);
        data.decompress().ok()
    };
    EndianArcSlice::new(read().unwrap_or_default().as_ref().into(), endian)
}

/// Whether callers need the section. The others, with the places of variables among them, are large.
fn is_used(id: SectionId) -> bool {
    let unused = [SectionId::DebugLoc, SectionId::DebugLocLists, SectionId::DebugMacinfo, SectionId::DebugMacro];
    !unused.contains(&id)
}
