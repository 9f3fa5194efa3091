//! The units of a file's debug information, and of the further files that it refers to.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ops::Range;

use gimli::Section;

use super::entries::{At, Dwarf, Unit};
use super::sections::Sections;
use super::tables::Tables;

/// All units. An offset is one in the file's `.debug_info`; the sections of further files follow it, one after the other.
pub(super) struct Units<'a> {
    sections: Vec<Part<'a>>,
    /// In the order of their offsets.
    units: Vec<Placed<'a>>,
    supplementary: Option<usize>,
}

/// A section with units.
struct Part<'a> {
    dwarf: Dwarf<'a>,
    offsets: Range<usize>,
}

/// A unit, and the numbers of its section and of the unit that has its line table.
struct Placed<'a> {
    base: usize,
    section: usize,
    unit: Unit<'a>,
    lines: Option<usize>,
}

impl<'a> Units<'a> {
    /// Reads the headers of all units. Units after the first unreadable header of a section are left out.
    pub fn read(sections: &'a Sections<'_>) -> Result<Units<'a>, gimli::Error> {
        let mut units = Units { sections: Vec::new(), units: Vec::new(), supplementary: None };
        let damage = units.add_all(sections.dwarf());
        let skeletons = units.units.iter().enumerate().filter_map(|(number, unit)| Some((unit.unit.dwo_id?.0, number)));
        let mut skeletons: HashMap<u64, usize> = skeletons.collect();
        if let Some(supplementary) = sections.supplementary() {
            units.supplementary = Some(units.sections.len());
            let _ = units.add_all(supplementary);
        }
        if !skeletons.is_empty() {
            for mut split in sections.split(&sections.dwarf()) {
                // each skeleton has one unit
                let Some(skeleton) = skeletons.remove(&split.id) else { continue };
                split.join(&units.units[skeleton].unit);
                let (section, offsets) = units.add(split.dwarf);
                // numbers of files in the unit are those of the skeleton's line table
                let lines = units.units[skeleton].lines;
                units.units.push(Placed { base: offsets.start, section, unit: split.unit, lines });
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

    /// Adds a section and its units. Returns the first error.
    fn add_all(&mut self, dwarf: Dwarf<'a>) -> Option<gimli::Error> {
        let (section, offsets) = self.add(dwarf);
        let dwarf = &self.sections[section].dwarf;
        let (mut tables, headers, mut damage) = Tables::of(dwarf);
        let mut with_lines = HashMap::new();
        // different line tables do not overlap
        let mut room = dwarf.debug_line.reader().len();
        for header in headers {
            let base = offsets.start + header.debug_info_offset().map_or(0, |offset| offset.0);
            let mut unit = match tables.unit(dwarf, header) {
                Ok(unit) => unit,
                Err(error) => {
                    damage = damage.or(Some(error));
                    continue;
                }
            };
            let lines =
                unit.line_program.take().and_then(|program| match with_lines.entry(program.header().offset().0) {
                    Entry::Occupied(known) => Some(*known.get()),
                    Entry::Vacant(new) => {
                        room = room.checked_sub(program.header().header_length())?;
                        unit.line_program = Some(program);
                        Some(*new.insert(self.units.len()))
                    }
                });
            self.units.push(Placed { base, section, unit, lines });
        }
        damage
    }

    pub fn len(&self) -> usize {
        self.units.len()
    }

    pub fn get(&self, number: usize) -> Option<At<'_, 'a>> {
        let Placed { base, section, unit, lines } = self.units.get(number)?;
        let supplementary = self.supplementary.map(|number| &self.sections[number].offsets);
        let section = &self.sections[*section];
        let lines = lines.and_then(|number| self.units.get(number)?.unit.line_program.as_ref());
        Some(At { dwarf: &section.dwarf, unit, base: *base, section: &section.offsets, supplementary, lines })
    }

    /// Returns the number of the unit that contains an offset.
    pub fn number_of(&self, offset: usize) -> Option<usize> {
        self.units.partition_point(|unit| unit.base <= offset).checked_sub(1)
    }

    /// Returns the unit that contains an offset.
    pub fn of(&self, offset: usize) -> Option<At<'_, 'a>> {
        self.get(self.number_of(offset)?)
    }
}
