//! Split debug information: the image has a skeleton of each unit, which has the addresses. The unit itself is in another file.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use gimli::{AttributeValue, DwarfPackage, Section};

use super::entries::{self, Bytes, Dwarf};
use super::limits;
use super::tables::Tables;

/// A unit that is in a file of its own or in a package, and its sections.
pub(crate) struct Unit<'a> {
    /// Its skeleton has the same.
    pub id: u64,
    pub dwarf: Dwarf<'a>,
    pub unit: entries::Unit<'a>,
}

impl<'a> Unit<'a> {
    /// Takes the parts from the skeleton that only the image has.
    pub fn join(&mut self, skeleton: &entries::Unit<'a>) {
        self.unit.copy_relocated_attributes(skeleton);
        self.unit.comp_dir = skeleton.comp_dir;
    }
}

/// Returns the units of a package, up to the first that overlaps with others: damaged packages could have all of it in each unit.
pub(super) fn of_package<'a>(package: &DwarfPackage<Bytes<'a>>, main: &Dwarf<'a>) -> Vec<Unit<'a>> {
    let sizes = |info: Bytes<'a>, abbreviations: Bytes<'a>, lines: Bytes<'a>| {
        [info, abbreviations, lines].map(|bytes| bytes.len())
    };
    let mut room = sizes(*package.debug_info.reader(), *package.debug_abbrev.reader(), *package.debug_line.reader());
    let mut units = Vec::new();
    for row in 1..=package.cu_index.unit_count() {
        let Ok(dwarf) = package.cu_sections(row, main) else { continue };
        let own = sizes(*dwarf.debug_info.reader(), *dwarf.debug_abbrev.reader(), *dwarf.debug_line.reader());
        if room.iter().zip(own).any(|(room, own)| *room < own) {
            break;
        }
        room = std::array::from_fn(|index| room[index] - own[index]);
        units.extend(unit(dwarf, main));
    }
    units
}

pub(super) fn of_object<'a>(mut dwarf: Dwarf<'a>, main: &Dwarf<'a>) -> Option<Unit<'a>> {
    dwarf.make_dwo(main);
    unit(dwarf, main)
}

fn unit<'a>(mut dwarf: Dwarf<'a>, main: &Dwarf<'a>) -> Option<Unit<'a>> {
    // the names in the skeleton's line table
    dwarf.debug_line_str = main.debug_line_str;
    let unit = dwarf.unit(dwarf.units().next().ok()??).ok()?;
    Some(Unit { id: unit.dwo_id?.0, dwarf, unit })
}

/// A skeleton: its unit is in another file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Skeleton {
    /// Its unit has the same.
    pub id: u64,
    /// The file for this unit alone, as the compiler named it.
    pub object: PathBuf,
    /// The folder in which the compiler ran.
    pub folder: PathBuf,
}

/// Finds the skeletons among the units of an image. Each has an id of its own.
pub(super) fn skeletons(dwarf: &Dwarf<'_>) -> Vec<Skeleton> {
    let mut found = Vec::new();
    let mut known = HashSet::new();
    let (mut tables, headers, _) = Tables::of(dwarf);
    for header in headers {
        // A skeleton is one entry. Other units need not be read for this.
        if header.length_including_self() > limits::SKELETON || found.len() >= limits::SPLIT_UNITS {
            continue;
        }
        let skeleton = tables.unit(dwarf, header).ok().and_then(|unit| skeleton(dwarf, &unit));
        found.extend(skeleton.filter(|skeleton| known.insert(skeleton.id)));
    }
    found
}

fn skeleton<'a>(dwarf: &Dwarf<'a>, unit: &entries::Unit<'a>) -> Option<Skeleton> {
    let path = |value| {
        let text = dwarf.attr_string(unit, value).ok()?;
        (text.len() <= limits::NAME).then(|| Path::new(OsStr::from_bytes(text.slice())))
    };
    let object = path(unit.dwo_name().ok()??)?;
    let folder = unit.comp_dir.map(AttributeValue::String).and_then(path).unwrap_or(Path::new(""));
    Some(Skeleton { id: unit.dwo_id?.0, object: folder.join(object), folder: folder.to_owned() })
}
