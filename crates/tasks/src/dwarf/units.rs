//! The units of a file's debug information, and of the further files that it refers to.

use std::collections::HashMap;
use std::ops::Range;

use gimli::Section;

use super::entries::{At, Dwarf, Unit};
use super::sections::Sections;

/// All units. An offset is one in the file's `.debug_info`; the sections of further files follow it, one after the other.
pub(super) struct Units<'a> {
    sections: Vec<Part<'a>>,
    /// In the order of their offsets, each with its section.
    units: Vec<(usize, usize, Unit<'a>)>,
    supplementary: Option<usize>,
}

/// A section with units.
struct Part<'a> {
    dwarf: Dwarf<'a>,
    offsets: Range<usize>,
}

impl<'a> Units<'a> {
    /// Reads the headers of all units. Units after the first unreadable header of a section are left out.
    pub fn read(sections: &'a Sections<'_>) -> Result<Units<'a>, gimli::Error> {
        let mut units = Units { sections: Vec::new(), units: Vec::new(), supplementary: None };
        let damage = units.add_all(sections.dwarf());
        let skeletons =
            units.units.iter().enumerate().filter_map(|(number, (.., unit))| Some((unit.dwo_id?.0, number)));
        let mut skeletons: HashMap<u64, usize> = skeletons.collect();
        if let Some(supplementary) = sections.supplementary() {
            units.supplementary = Some(units.sections.len());
            let _ = units.add_all(supplementary);
        }
        if !skeletons.is_empty() {
            for mut split in sections.split(&sections.dwarf()) {
                // each skeleton has one unit
                let Some(skeleton) = skeletons.remove(&split.id) else { continue };
                split.join(&units.units[skeleton].2);
                let (section, offsets) = units.add(split.dwarf);
                units.units.push((offsets.start, section, split.unit));
            }
        }
        match damage {
            Some(error) if units.units.is_empty() => Err(error),
            _ => Ok(units),
        }
    }

    /// Adds a section. Returns its number and its offsets.
    fn add(&mut self, dwarf: Dwarf<'a>) -> (usize, Range<usize>) {
        let start = self.sections.last().map_or(0, |last| last.offsets.end);
        let offsets = start..start + dwarf.debug_info.reader().len();
        self.sections.push(Part { dwarf, offsets: offsets.clone() });
        (self.sections.len() - 1, offsets)
    }

    /// Adds a section and its units. Returns the last error.
    fn add_all(&mut self, dwarf: Dwarf<'a>) -> Option<gimli::Error> {
        let (section, offsets) = self.add(dwarf);
        let dwarf = &self.sections[section].dwarf;
        let mut headers = dwarf.units();
        let mut damage = None;
        loop {
            let header = match headers.next() {
                Ok(Some(header)) => header,
                Ok(None) => return damage,
                Err(error) => return Some(error),
            };
            let base = offsets.start + header.debug_info_offset().map_or(0, |offset| offset.0);
            match dwarf.unit(header) {
                Ok(unit) => self.units.push((base, section, unit)),
                Err(error) => damage = Some(error),
            }
        }
    }

    pub fn len(&self) -> usize {
        self.units.len()
    }

    pub fn get(&self, number: usize) -> Option<At<'_, 'a>> {
        let (base, section, unit) = self.units.get(number)?;
        let supplementary = self.supplementary.map(|number| &self.sections[number].offsets);
        let section = &self.sections[*section];
        Some(At { dwarf: &section.dwarf, unit, base: *base, section: &section.offsets, supplementary })
    }

    /// Returns the number of the unit that contains an offset.
    pub fn number_of(&self, offset: usize) -> Option<usize> {
        self.units.partition_point(|(base, ..)| *base <= offset).checked_sub(1)
    }

    /// Returns the unit that contains an offset.
    pub fn of(&self, offset: usize) -> Option<At<'_, 'a>> {
        self.get(self.number_of(offset)?)
    }
}
