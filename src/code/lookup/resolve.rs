//! Addresses in memory: which module, version, function and line they belong to.

use std::fmt;
use std::sync::Arc;

use crate::code::version::image::Image;
use crate::code::version::tables::{TableSet, tables};

/// A place in the code of a module that is loaded.
///
/// What the file says of it is looked up when it is asked for, and the file read when that is done for the first time; with the feature
/// `code`, which is among the default ones, else it is not known. What became of the version meanwhile makes no difference.
#[derive(Clone)]
pub struct Location {
    image: Arc<Image>,
    address: usize,
}

/// What is at an address. `None` if no version of a module lies there.
///
/// ```
/// let place = dyntrace::code::resolve(main as *const () as usize);
/// assert!(place.is_none(), "the program is no module");
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

    /// The version, as the module says it.
    pub fn version(&self) -> &str {
        &self.image.version
    }

    /// The function, with its path, if the file has its symbols.
    pub fn function(&self) -> Option<&str> {
        self.image.symbols.function(self.in_file())
    }

    /// The source file and the line, if the file has debug information.
    pub fn line(&self) -> Option<(&str, u32)> {
        self.image.symbols.line(self.in_file())
    }

    /// The address as the file has it.
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
