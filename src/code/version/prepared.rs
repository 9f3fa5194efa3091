//! Versions that are prepared and not in force yet.

use std::fmt;
use std::sync::Arc;

use super::Version;
use super::counters::Counters;
use super::descriptor::Descriptor;
use super::kept;
use super::mapping::{Mapping, Unmapped};
use super::registration;
use super::tables::{Tables, tables};
use crate::code::error::Error;
use crate::thread_progress;

/// A version of a module that is loaded and checked, and that nobody can call yet: [`finish`](crate::code::finish()) puts it in force.
///
/// If it is dropped instead and its module is [`Unloadable`](super::descriptor::Unloadable), it is unmapped. Else the library stays in memory,
/// because its constructors have run, and is [counted](kept::kept()).
#[must_use = "nobody can call it until it is finished"]
pub struct Prepared {
    /// `None` when it is in force, or dropped.
    version: Option<Arc<Version>>,
}

impl Prepared {
    /// Of a module whose descriptor is checked, and which is a guest already.
    ///
    /// # Errors
    ///
    /// There are as many versions as there can be. Then the mapping is unmapped if the module may be, else kept and counted.
    pub(crate) fn new(descriptor: &'static Descriptor, mapping: Box<dyn Mapping>) -> Result<Prepared, Error> {
        Prepared::of(tables(), descriptor, mapping)
    }

    pub(crate) fn of(
        tables: &'static Tables,
        descriptor: &'static Descriptor,
        mapping: Box<dyn Mapping>,
    ) -> Result<Prepared, Error> {
        let counters = Counters::take().inspect_err(|_| {
            // SAFETY: nothing of it is in use yet.
            unsafe { kept::discard(descriptor, &*mapping) };
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
        self.version.as_ref().expect("there until it is in force")
    }

    /// It is in force.
    pub(crate) fn committed(mut self) {
        self.version = None;
    }
}

impl Drop for Prepared {
    fn drop(&mut self) {
        let Some(version) = self.version.take() else { return };
        // Held by a hook that has not returned.
        let is_in_use = version.holds() != 0;
        // Its constructors have run, whatever else has: only the module's promise says that nothing of them is left. Unmapping
        // waits for other threads, which a pinned one must not.
        if !is_in_use && version.is_unloadable && !thread_progress::is_pinned() {
            // SAFETY: nobody has entered it, and the module promises that nothing else of it is in use.
            let unmapped = unsafe {
                registration::drop_prepared(&version);
                version.image.unmap()
            };
            if unmapped == Unmapped::Gone {
                return;
            }
        }
        kept::count();
    }
}

impl fmt::Debug for Prepared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.version {
            Some(version) => write!(f, "Prepared({})", version.image),
            None => f.write_str("Prepared(in force)"),
        }
    }
}
