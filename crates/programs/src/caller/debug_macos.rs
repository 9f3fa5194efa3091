//! The debug information and symbols of a program's file, in Mach-O. The loader opens the files of objects that the program names.

use std::path::Path;

use addr2line::Loader;

use super::code::{Function, described};
use crate::regular;

/// The most bytes that are kept.
pub const MOST: u64 = u64::MAX;

pub struct Debug(Loader);

impl Debug {
    /// `None` for a file that cannot be read, or is not a regular file.
    pub fn of(path: &Path) -> Option<Debug> {
        regular::open(path).ok()?;
        Some(Debug(Loader::new(path).ok()?))
    }

    /// Nothing: the files are mapped.
    pub fn kept(&self) -> u64 {
        0
    }

    /// The functions at an address, by debug information, the innermost first.
    pub fn frames(&self, address: u64) -> Vec<Function> {
        self.0.find_frames(address).map(described).unwrap_or_default()
    }

    /// The name of the symbol that contains the address.
    pub fn symbol(&self, address: u64) -> Option<&str> {
        self.0.find_symbol(address)
    }
}
