//! The names of exports.

use std::fmt;

use crate::code::layout::LayoutHash;

/// A hash of the memory layouts of an export's arguments and result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SignatureHash(LayoutHash);

impl SignatureHash {
    pub(crate) const fn of(types: LayoutHash) -> SignatureHash {
        SignatureHash(types)
    }

    /// `==` in constants.
    pub(crate) const fn is(self, other: SignatureHash) -> bool {
        self.0.is(other.0)
    }
}

/// Identifies an export. The same name with another signature is another export.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ExportName {
    pub(crate) module: String,
    pub(crate) name: String,
    pub(crate) signature: SignatureHash,
}

impl fmt::Display for ExportName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}::{}", self.module, self.name)
    }
}
