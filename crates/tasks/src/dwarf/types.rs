use std::fmt;
use std::sync::Arc;

use super::answers::Answers;
use super::description::{Awaitee, Type, TypeId};
use super::entries::At;
use super::index::Index;
use super::paths::PathId;
use super::units::Units;
use super::{Error, Sections, limits};
use crate::listing::SourceLine;

/// The types and functions of one ELF file.
pub struct Types<'a> {
    pub(super) units: Units<'a>,
    pub(super) index: Index<'a>,
    read: Answers<Arc<Type>>,
    /// Whether a type contains one that a search looks for, by its `Goal`.
    pub(crate) contains: [Answers<bool>; 3],
    /// Whether a type may contain a descriptor that is registered with the runtime.
    pub(crate) may_register: Answers<bool>,
    /// The names of futures for people.
    pub(crate) names: Answers<Arc<str>>,
    pub(super) places: Answers<Option<SourceLine>>,
    pub(super) symbols: Answers<Option<Arc<str>>>,
    pub(super) awaitees: Answers<Arc<[Awaitee]>>,
}

impl fmt::Debug for Types<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let index = &self.index;
        f.debug_struct("Types")
            .field("units", &self.units.len())
            .field("types", &index.types.len())
            .field("functions", &index.functions.len())
            .finish_non_exhaustive()
    }
}

impl<'a> Types<'a> {
    /// Indexes debug information, on as many threads as there are cores.
    ///
    /// # Errors
    ///
    /// If no unit of it can be read. Damaged units are left out.
    pub fn load(sections: &'a Sections<'_>) -> Result<Types<'a>, Error> {
        Types::load_units(sections, |_| true)
    }

    /// Indexes the units of one crate, by the names that rustc gives them: `PATH/@/CRATE.HASH-cgu.0`.
    pub(crate) fn load_of_crate(sections: &'a Sections<'_>, name: &str) -> Result<Types<'a>, Error> {
        let name = format!("/@/{name}.");
        Types::load_units(sections, |at| {
            let unit = at.unit.name.as_ref().map_or(&b""[..], |name| name.slice());
            unit.windows(name.len()).any(|part| part == name.as_bytes())
        })
    }

    fn load_units(
        sections: &'a Sections<'_>,
        is_wanted: impl Fn(At<'_, 'a>) -> bool + Sync,
    ) -> Result<Types<'a>, Error> {
        let units = Units::read(sections).map_err(Error::Damaged)?;
        if units.len() == 0 {
            return Err(Error::Missing);
        }
        let index = Index::of(&units, is_wanted);
        Ok(Types {
            units,
            index,
            read: Answers::default(),
            contains: Default::default(),
            may_register: Answers::default(),
            names: Answers::default(),
            places: Answers::default(),
            symbols: Answers::default(),
            awaitees: Answers::default(),
        })
    }

    /// Returns a type. An unreadable one has no members and a size of 0.
    pub(crate) fn get(&self, id: TypeId) -> Arc<Type> {
        let parse = || Arc::new(self.parse(id, limits::REFERENCES).unwrap_or_else(|| Type::unknown(id)));
        self.read.get(id, parse)
    }

    /// Returns the path that a type lies in.
    pub(super) fn parent(&self, id: TypeId) -> Option<PathId> {
        let found = self.index.types.binary_search_by_key(&id.0, |(offset, _)| *offset).ok()?;
        Some(self.index.types[found].1)
    }
}
