//! Single entries (DIEs): their attributes, and references between them.

use std::ops::Range;

use gimli::{AttributeValue, EndianSlice, LittleEndian, UnitOffset, constants};

use super::limits;

pub(super) type Bytes<'a> = EndianSlice<'a, LittleEndian>;
pub(super) type Dwarf<'a> = gimli::Dwarf<Bytes<'a>>;
pub(super) type Unit<'a> = gimli::Unit<Bytes<'a>>;
pub(super) type Lines<'a> = gimli::IncompleteLineProgram<Bytes<'a>>;
pub(super) type Entry<'a> = gimli::DebuggingInformationEntry<Bytes<'a>>;
pub(super) type Value<'a> = AttributeValue<Bytes<'a>>;

/// A unit, and its place among [`Units`](super::units::Units).
#[derive(Clone, Copy)]
pub(super) struct At<'u, 'a> {
    pub dwarf: &'u Dwarf<'a>,
    pub unit: &'u Unit<'a>,
    pub base: usize,
    /// The offsets of all units in the same section.
    pub section: &'u Range<usize>,
    /// The same of the supplementary file.
    pub supplementary: Option<&'u Range<usize>>,
    pub lines: Option<&'u Lines<'a>>,
}

impl<'u, 'a> At<'u, 'a> {
    /// Returns a cursor whose first entry is the one at `offset`, at depth 0.
    pub fn cursor(&self, offset: usize) -> Option<gimli::EntriesCursor<'u, Bytes<'a>>> {
        let offset = offset.checked_sub(self.base)?;
        self.unit.entries_at_offset(UnitOffset(offset)).ok()
    }

    /// Visits the unit's entries of the wanted tags and depths, up to the first that cannot be read. Skips the attributes of the others.
    /// `visit` gets an entry, its offset, and its answer for the innermost visited entry around this one.
    pub fn walk<T>(
        &self,
        wanted: impl Fn(gimli::DwTag, isize) -> bool,
        mut visit: impl FnMut(&Entry<'a>, usize, Option<&mut T>) -> Option<T>,
    ) {
        let Ok(mut raw) = self.unit.entries_raw(None) else { return };
        // of the open entries, by depth
        let mut open: Vec<(isize, T)> = Vec::new();
        let mut entry = Entry::null();
        while !raw.is_empty() {
            let depth = raw.next_depth();
            let offset = self.base + raw.next_offset().0;
            let mut ahead = raw.clone();
            let Ok(abbreviation) = ahead.read_abbreviation() else { return };
            if let Some(abbreviation) = abbreviation {
                while open.last().is_some_and(|(open, _)| *open >= depth) {
                    open.pop();
                }
                if wanted(abbreviation.tag(), depth) {
                    if raw.read_entry(&mut entry).is_err() {
                        return;
                    }
                    let around = open.last_mut().map(|(_, around)| around);
                    let own = visit(&entry, offset, around);
                    open.extend(own.map(|own| (depth, own)));
                    continue;
                }
                if ahead.skip_attributes(abbreviation.attributes()).is_err() {
                    return;
                }
            }
            raw = ahead;
        }
    }

    /// Returns the entry at `offset`.
    pub fn entry(&self, offset: usize) -> Option<Entry<'a>> {
        self.unit.entry(UnitOffset(offset.checked_sub(self.base)?)).ok()
    }

    /// Returns a string; empty if there is none, or if it is longer than the limit.
    pub fn string(&self, value: Option<Value<'a>>) -> &'a [u8] {
        let bytes = value.and_then(|value| self.dwarf.attr_string(self.unit, value).ok());
        bytes.map(|bytes| bytes.slice()).filter(|bytes| bytes.len() <= limits::NAME).unwrap_or(b"")
    }

    pub fn name(&self, entry: &Entry<'a>) -> &'a [u8] {
        self.string(entry.attr_value(constants::DW_AT_name))
    }

    pub fn text(&self, value: Option<Value<'a>>) -> String {
        String::from_utf8_lossy(self.string(value)).into_owned()
    }

    /// Returns the offset that an attribute refers to.
    pub fn reference(&self, value: Option<Value<'a>>) -> Option<usize> {
        match value? {
            AttributeValue::UnitRef(UnitOffset(offset)) => self.base.checked_add(offset),
            AttributeValue::DebugInfoRef(offset) => within(self.section, offset.0),
            AttributeValue::DebugInfoRefSup(offset) => within(self.supplementary?, offset.0),
            _ => None,
        }
    }

    /// Returns the type that an entry refers to.
    pub fn type_of(&self, entry: &Entry<'a>) -> Option<usize> {
        self.reference(entry.attr_value(constants::DW_AT_type))
    }

    /// Returns the address where a function begins; `None` for 0, which linkers write for functions they removed.
    pub fn low_pc(&self, entry: &Entry<'a>) -> Option<u64> {
        let value = entry.attr_value(constants::DW_AT_low_pc)?;
        self.dwarf.attr_address(self.unit, value).ok().flatten().filter(|address| *address != 0)
    }
}

fn within(section: &Range<usize>, offset: usize) -> Option<usize> {
    section.start.checked_add(offset).filter(|offset| section.contains(offset))
}

/// Returns an integer attribute, zero-extended if the form has a size and no sign.
pub(super) fn number(value: Option<Value<'_>>) -> Option<i128> {
    match value? {
        AttributeValue::Sdata(x) => Some(x.into()),
        AttributeValue::Udata(x) => Some(x.into()),
        AttributeValue::Data1(x) => Some(x.into()),
        AttributeValue::Data2(x) => Some(x.into()),
        AttributeValue::Data4(x) => Some(x.into()),
        AttributeValue::Data8(x) => Some(x.into()),
        AttributeValue::FileIndex(x) => Some(x.into()),
        AttributeValue::Block(block) => <[u8; 16]>::try_from(block.slice()).ok().map(i128::from_le_bytes),
        other => other.udata_value().map(i128::from),
    }
}

/// Returns an attribute that is a count, an offset or a line.
pub(super) fn unsigned(value: Option<Value<'_>>) -> Option<u64> {
    number(value).and_then(|number| u64::try_from(number).ok())
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use gimli::constants::*;

    use super::super::Sections;
    use super::super::units::Units;

    #[test]
    fn an_entry_is_not_within_a_deeper_one_before_it() {
        const UNIT: u8 = 1;
        const FUNCTION: u8 = 2;
        const BLOCK: u8 = 3;
        const INLINED: u8 = 4;
        const END: u8 = 0;
        let tags = [DW_TAG_compile_unit, DW_TAG_subprogram, DW_TAG_lexical_block, DW_TAG_inlined_subroutine];
        let mut abbreviations = Vec::new();
        for (code, tag) in (1..).zip(tags) {
            abbreviations.extend([code, tag.0 as u8, DW_CHILDREN_yes.0, 0, 0]);
        }
        abbreviations.push(END);
        // a 32-bit unit of version 4, 8-byte addresses; its length is written at the end
        let mut info = vec![0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 8];
        info.extend([UNIT, FUNCTION]);
        let function = info.len() - 1;
        info.extend([BLOCK, INLINED, END, END]);
        info.extend([BLOCK, BLOCK, BLOCK, INLINED, INLINED]);
        let second = info.len() - 2;
        info.extend([END; 7]);
        info[0] = (info.len() - 4) as u8;
        let sections = Sections::of(|name| match name {
            ".debug_abbrev" => abbreviations.clone().into(),
            ".debug_info" => info.clone().into(),
            _ => Cow::Borrowed(&[]),
        });
        let units = Units::read(&sections).unwrap();
        let mut around = Vec::new();
        let wanted = |tag, _| tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine;
        units.get(0).unwrap().walk(wanted, |_, offset, outer: Option<&mut usize>| {
            around.push(outer.copied());
            Some(offset)
        });
        assert_eq!(around, [None, Some(function), Some(function), Some(second)]);
    }
}
