//! Descriptions of types, and of the variables that have futures.

use crate::listing::SourceLine;

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

/// A local variable `__awaitee`: the compiler has one for each await.
pub(crate) struct Awaitee {
    pub kind: TypeId,
    pub place: SourceLine,
}
