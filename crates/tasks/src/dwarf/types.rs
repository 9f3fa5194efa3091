use std::fmt;
use std::sync::Arc;

use super::entries::At;
use super::functions::Awaitee;
use super::index::Index;
use super::kept::Kept;
use super::paths::PathId;
use super::units::Units;
use super::{Error, Sections, limits};
use crate::listing::Place;

/// A type, by the offset of its description among all units.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TypeId(pub(crate) usize);

/// A type's description.
#[derive(Debug, Clone)]
pub(crate) struct Type {
    pub id: TypeId,
    /// With parameters, without its path.
    pub name: String,
    /// With its path.
    pub path: String,
    /// The length of the path without type parameters.
    pub bare: usize,
    /// In bytes.
    pub size: u64,
    pub shape: Shape,
    pub members: Vec<Member>,
    /// Of an enum or coroutine.
    pub variants: Option<Variants>,
    /// Type parameters, by name.
    pub parameters: Vec<(String, TypeId)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    Struct,
    Union,
    Pointer(Option<TypeId>),
    Array { element: TypeId, count: u64 },
    Other,
}

/// A field, or a variant.
#[derive(Debug, Clone)]
pub(crate) struct Member {
    pub name: String,
    pub kind: TypeId,
    /// From the beginning of the type, in bytes.
    pub offset: u64,
    pub file: u64,
    pub line: u32,
}

/// The variants of an enum, and where their discriminant lies.
#[derive(Debug, Clone, Default)]
pub(crate) struct Variants {
    pub offset: u64,
    /// In bytes; 0 if there is no discriminant.
    pub size: u64,
    /// With their discriminants; the variant without one is the default.
    pub list: Vec<(Option<i128>, Member)>,
}

impl Variants {
    /// Returns the place of the variant of a discriminant.
    pub fn position(&self, discriminant: u128) -> Option<usize> {
        // debug information may have the discriminant sign-extended
        let mask = if self.size >= 16 { u128::MAX } else { (1 << (8 * self.size)) - 1 };
        let exact = self.list.iter().position(|(d, _)| d.is_some_and(|d| d as u128 & mask == discriminant));
        exact.or_else(|| self.list.iter().position(|(d, _)| d.is_none()))
    }
}

impl Type {
    pub fn member(&self, name: &str) -> Option<&Member> {
        self.members.iter().find(|member| member.name == name)
    }

    /// The path without type parameters.
    pub fn bare(&self) -> &str {
        &self.path[..self.bare]
    }

    pub fn is_coroutine(&self) -> bool {
        self.name.starts_with("{async_") && self.name.contains("_env#")
    }
}

pub(crate) fn bare(path: &str) -> &str {
    path.split_once('<').map_or(path, |(bare, _)| bare)
}

/// The types and functions of one ELF file.
pub struct Types<'a> {
    pub(super) units: Units<'a>,
    pub(super) index: Index<'a>,
    read: Kept<Arc<Type>>,
    /// Whether a type contains one that a search looks for, by its `Goal`.
    pub(crate) contains: [Kept<bool>; 3],
    /// Whether a type may contain a descriptor that is registered with the runtime.
    pub(crate) may_register: Kept<bool>,
    /// The names of futures for people.
    pub(crate) names: Kept<Arc<str>>,
    pub(super) places: Kept<Option<Place>>,
    pub(super) symbols: Kept<Option<Arc<str>>>,
    pub(super) awaitees: Kept<Arc<[Awaitee]>>,
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
            read: Kept::default(),
            contains: Default::default(),
            may_register: Kept::default(),
            names: Kept::default(),
            places: Kept::default(),
            symbols: Kept::default(),
            awaitees: Kept::default(),
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

impl Type {
    pub(super) fn unknown(id: TypeId) -> Type {
        Type {
            id,
            name: String::new(),
            path: String::new(),
            bare: 0,
            size: 0,
            shape: Shape::Other,
            members: Vec::new(),
            variants: None,
            parameters: Vec::new(),
        }
    }
}
