//! Lines of source, with their files' names.

use gimli::constants;

use super::description::{Member, TypeId};
use super::entries::{At, Entry, unsigned};
use super::types::Types;
use crate::listing::SourceLine;

impl Types<'_> {
    /// Returns the line of a member of `owner`. rustc gives lines to the variants of coroutines only.
    pub(crate) fn line_of(&self, owner: TypeId, member: &Member) -> Option<SourceLine> {
        let place = || {
            let at = self.units.of(owner.0)?;
            (member.line > 0).then_some(SourceLine::new(&file(at, member.file)?, member.line))
        };
        // each variant has a type of its own
        self.places.get(member.kind, place)
    }

    pub(super) fn place(&self, at: At<'_, '_>, number: u64, line: u32) -> Option<SourceLine> {
        (line > 0).then_some(SourceLine::new(&file(at, number)?, line))
    }

    pub(super) fn place_of<'a>(&self, at: At<'_, 'a>, entry: &Entry<'a>) -> Option<SourceLine> {
        let line = u32::try_from(unsigned(entry.attr_value(constants::DW_AT_decl_line))?).ok()?;
        let number = unsigned(entry.attr_value(constants::DW_AT_decl_file))?;
        Some(SourceLine::new(&file(at, number)?, line))
    }
}

fn file(at: At<'_, '_>, number: u64) -> Option<String> {
    let header = at.lines?.header();
    let file = header.file(number)?;
    let text = |value| at.text(Some(value));
    let name = text(file.path_name());
    if name.is_empty() {
        return None;
    }
    let directory = file.directory(header).map(text).unwrap_or_default();
    let whole = if name.starts_with('/') || directory.is_empty() { name } else { format!("{directory}/{name}") };
    // a crate of a registry is compiled in its own folder: `src/lib.rs` would look like the program's
    let compiled_in = at.unit.comp_dir.map(|folder| folder.to_string_lossy().into_owned()).unwrap_or_default();
    let relative = !whole.starts_with('/') && compiled_in.contains("/registry/src/");
    Some(if relative { format!("{compiled_in}/{whole}") } else { whole })
}
