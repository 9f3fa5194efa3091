//! Tables that units share: abbreviations, and the files of line tables. Damaged debug information could have each of a million units refer
//! to the same large table. So each table is read once, or within bounds.

use std::collections::HashMap;
use std::sync::Arc;

use gimli::{Abbreviations, DebugAbbrev, DebugAbbrevOffset, LittleEndian, Section};

use super::entries::{Bytes, Dwarf, Unit};
use super::limits;

/// The tables of one section of units.
pub(super) struct Tables<'a> {
    /// Where abbreviations begin, in order.
    starts: Vec<usize>,
    abbreviations: HashMap<usize, Result<Arc<Abbreviations>, gimli::Error>>,
    section: &'a [u8],
    /// Bytes of line tables' headers that were read.
    lines_read: usize,
}

/// The header of a unit.
pub(super) type Header<'a> = gimli::UnitHeader<Bytes<'a>>;

impl<'a> Tables<'a> {
    /// Reads the headers of all units. Returns them up to the first unreadable one, and its error.
    pub fn of(dwarf: &Dwarf<'a>) -> (Tables<'a>, Vec<Header<'a>>, Option<gimli::Error>) {
        let mut headers = Vec::new();
        let mut all = dwarf.units();
        let damage = loop {
            match all.next() {
                Ok(Some(header)) if headers.len() < limits::UNITS => headers.push(header),
                Ok(_) => break None,
                Err(error) => break Some(error),
            }
        };
        let mut starts: Vec<usize> = headers.iter().map(|header| header.debug_abbrev_offset().0).collect();
        starts.sort_unstable();
        starts.dedup();
        let section = dwarf.debug_abbrev.reader().slice();
        (Tables { starts, abbreviations: HashMap::new(), section, lines_read: 0 }, headers, damage)
    }

    /// Reads a unit's first entry.
    pub fn unit(&mut self, dwarf: &Dwarf<'a>, header: Header<'a>) -> Result<Unit<'a>, gimli::Error> {
        let abbreviations = self.abbreviations(header.debug_abbrev_offset().0)?;
        if self.lines_read > limits::LINES {
            return Err(gimli::Error::OffsetOutOfBounds(self.lines_read as u64));
        }
        let unit = Unit::new_with_abbreviations(dwarf, header, abbreviations)?;
        let size = unit.line_program.as_ref().map_or(0, |program| program.header().header_length());
        self.lines_read = self.lines_read.saturating_add(size);
        Ok(unit)
    }

    fn abbreviations(&mut self, start: usize) -> Result<Arc<Abbreviations>, gimli::Error> {
        let read = || {
            // the tables of honest units do not overlap
            let next = self.starts.partition_point(|other| *other <= start);
            let end = self.starts.get(next).copied().unwrap_or(usize::MAX).min(self.section.len());
            let bytes = self.section.get(start..end).ok_or(gimli::Error::OffsetOutOfBounds(start as u64))?;
            DebugAbbrev::new(bytes, LittleEndian).abbreviations(DebugAbbrevOffset(0)).map(Arc::new)
        };
        self.abbreviations.entry(start).or_insert_with(read).clone()
    }
}
