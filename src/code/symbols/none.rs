//! Without the feature `code` nothing is known of a file.

use std::path::Path;

pub(in super::super) struct Symbols;

impl Symbols {
    pub(in super::super) fn of(_: &Path) -> Symbols {
        Symbols
    }

    pub(in super::super) fn function(&self, _: u64) -> Option<&str> {
        None
    }

    pub(in super::super) fn line(&self, _: u64) -> Option<(&str, u32)> {
        None
    }
}
