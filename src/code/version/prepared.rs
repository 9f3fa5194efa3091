//! Versions that are prepared and not current yet.

use std::fmt;
use std::sync::Arc;

use dyntrace_probes::thread_progress;

use super::Version;
use super::counters::Counters;
use super::descriptor::Descriptor;
use super::image::{Mapping, Unmapped};
use super::registration;
use super::still_mapped;
use super::tables::{Tables, tables};
use crate::code::error::Error;

/// A version of a module that is loaded and checked, and cannot be called yet: [`finish`](crate::code::finish()) makes it current.
///
/// If it is dropped instead and its module is [`Unloadable`](super::descriptor::Unloadable), it is unmapped. Else the library stays in memory,
/// because its constructors have run, and is [counted](still_mapped::kept()).
#[must_use = "it cannot be called until it is finished"]
pub struct Prepared {
    /// `None` once it is committed or dropped.
    version: Option<Arc<Version>>,
}

impl Prepared {
    /// Makes a version of a module whose descriptor is checked, and which is already a guest.
    ///
    /// # Errors
    ///
    /// The limit of versions is reached. Then the mapping is unmapped if the module is unloadable, else kept and counted.
    pub(crate) fn new(descriptor: &'static Descriptor, mapping: Box<dyn Mapping>) -> Result<Prepared, Error> {
        Prepared::of(tables(), descriptor, mapping)
    }

    pub(crate) fn of(
        tables: &'static Tables,
        descriptor: &'static Descriptor,
        mapping: Box<dyn Mapping>,
    ) -> Result<Prepared, Error> {
        let counters = Counters::take().inspect_err(|_| {
            // SAFETY: only the descriptor's lists have been used.
            unsafe { still_mapped::discard(descriptor, &*mapping) };
        })?;
        let version = Version::new(descriptor, mapping, counters, |name| tables.entry(name));
        registration::prepared(&version);
        Ok(Prepared { version: Some(Arc::new(version)) })
    }

    /// The module's name.
    pub fn module(&self) -> &str {
        &self.version().image.module
    }

    pub(crate) fn version(&self) -> &Arc<Version> {
        self.version.as_ref().expect("there until it is committed")
    }

    /// Gives up the version, which is current now.
    pub(crate) fn committed(mut self) {
        self.version = None;
    }
}

impl Drop for Prepared {
    fn drop(&mut self) {
        let Some(version) = self.version.take() else { return };
        // A hook that has not returned holds it, and so does one that has not begun.
        let is_in_use = version.holds() != 0;
        // Its constructors have run: only the module's promise says that nothing of them is left. Unmapping waits for other
        // threads, which a pinned thread must not do.
        if !is_in_use && version.is_unloadable && !thread_progress::is_pinned() {
            // SAFETY: no thread has entered it, and the module promises that nothing else of it is in use.
            let unmapped = unsafe {
                registration::drop_prepared(&version);
                version.image.unmap()
            };
            if unmapped == Unmapped::Gone {
                return;
            }
        }
        still_mapped::count();
    }
}

impl fmt::Debug for Prepared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.version {
            Some(version) => write!(f, "Prepared({})", version.image),
            None => f.write_str("Prepared(current)"),
        }
    }
}
