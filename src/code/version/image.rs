//! Libraries in memory: mappings, and the images of versions.

use std::fmt;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::symbols::Symbols;
use crate::recorder::{loaded, modules};

/// A library that the dynamic linker has mapped.
pub(crate) trait Mapping: Send + Sync {
    /// The addresses of its segments, from the lowest to the highest.
    fn range(&self) -> Range<usize>;

    /// The difference between an address in memory and the same address in the file.
    fn bias(&self) -> usize;

    /// The mapped file: the version's private copy.
    fn path(&self) -> &Path;

    /// The file that was copied, as the program named it.
    fn source(&self) -> &Path;

    /// Unmaps it if the system allows, together with the module's descriptor and statics. Called at most once.
    ///
    /// # Safety
    ///
    /// Its code does not run, and nothing of it is used, now or later.
    unsafe fn unmap(&self) -> Unmapped;
}

/// The result of unmapping a library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unmapped {
    /// It is unmapped.
    Gone,
    /// Something keeps it mapped, such as destructors of thread-local values.
    Kept,
}

/// A version's mapping, which may outlive the version.
pub(crate) struct Image {
    pub(crate) id: u64,
    pub(crate) module: Arc<str>,
    /// For display.
    pub(crate) version: Arc<str>,
    pub(crate) mapping: Box<dyn Mapping>,
    pub(crate) symbols: Symbols,
    /// Its number in the recorder's list of modules.
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

    /// Unmaps it. Called at most once.
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

/// Describes a version to the recorder, so that traces can be read when it is gone.
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
