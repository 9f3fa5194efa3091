//! Where versions lie in memory.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::mapping::{Mapping, Unmapped};
use super::symbols::Symbols;
use crate::recorder::{loaded, modules};

/// A version as it lies in memory, which it may do for longer than it is a version that anybody can call.
pub(crate) struct Image {
    pub(crate) id: u64,
    pub(crate) module: Arc<str>,
    /// For people.
    pub(crate) version: Arc<str>,
    pub(crate) mapping: Box<dyn Mapping>,
    pub(crate) symbols: Symbols,
    /// Its number among those that recorded traces are told of.
    recorded: u64,
}

impl Image {
    pub(crate) fn new(module: &str, version: &str, mapping: Box<dyn Mapping>) -> Image {
        static LAST: AtomicU64 = AtomicU64::new(0);
        let id = LAST.fetch_add(1, Relaxed) + 1;
        let symbols = Symbols::of(mapping.path());
        let recorded = loaded::add_module(recorded(module, version, &*mapping));
        Image { id, module: module.into(), version: version.into(), mapping, symbols, recorded }
    }

    /// Once at most.
    ///
    /// # Safety
    ///
    /// As [`Mapping::unmap`]'s.
    pub(crate) unsafe fn unmap(&self) -> Unmapped {
        // SAFETY: as the caller promises.
        let unmapped = unsafe { self.mapping.unmap() };
        if unmapped == Unmapped::Gone {
            modules::remove(self.recorded);
        }
        unmapped
    }
}

/// What recorded traces are told of a version, so that they can be read when it is gone.
fn recorded(module: &str, version: &str, mapping: &dyn Mapping) -> modules::Module {
    let range = mapping.range();
    modules::Module {
        name: module.to_owned(),
        version: version.to_owned(),
        file: mapping.source().to_owned(),
        mapped: mapping.path().to_owned(),
        start: range.start as u64,
        size: range.len() as u64,
    }
}

impl fmt::Display for Image {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.module, self.version)
    }
}
