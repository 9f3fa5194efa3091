//! Resolves addresses to module, version, function and line.

use std::fmt;
use std::sync::Arc;

use crate::code::version::image::Image;
use crate::code::version::tables::{TableSet, tables};

/// A location in the code of a module.
///
/// The library's symbols are read at the first use, from the version's private copy. If the version was unloaded before, the copy is
/// gone, and function and line are unknown. A purge that only makes the version unreachable keeps the copy.
#[derive(Clone)]
pub struct Location {
    image: Arc<Image>,
    address: usize,
}

/// Returns the location of an address. `None` if no module is mapped there.
///
/// ```
/// let location = dyntrace::code::resolve(main as *const () as usize);
/// assert!(location.is_none(), "the program is no module");
/// # fn main() {}
/// ```
pub fn resolve(address: usize) -> Option<Location> {
    tables().look(|set| find(set, address))
}

pub(crate) fn find(set: &TableSet, address: usize) -> Option<Location> {
    let (_, image) = set.ranges.range(..=address).next_back()?;
    image.mapping.range().contains(&address).then(|| Location { image: Arc::clone(image), address })
}

impl Location {
    /// The name of the module.
    pub fn module(&self) -> &str {
        &self.image.module
    }

    /// The version, as the module names it.
    pub fn version(&self) -> &str {
        &self.image.version
    }

    /// The path of the function, if the file has symbols.
    pub fn function(&self) -> Option<&str> {
        self.image.symbols.function(self.in_file())
    }

    /// The source file and line, if the file has debug information.
    pub fn line(&self) -> Option<(&str, u32)> {
        self.image.symbols.line(self.in_file())
    }

    /// The address within the file.
    fn in_file(&self) -> u64 {
        self.address.wrapping_sub(self.image.mapping.bias()) as u64
    }
}

impl fmt::Debug for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Location({self})")
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ", self.image)?;
        match self.function() {
            Some(function) => f.write_str(function)?,
            None => write!(f, "+{:#x}", self.in_file())?,
        }
        match self.line() {
            Some((file, line)) => write!(f, " at {file}:{line}"),
            None => Ok(()),
        }
    }
}
