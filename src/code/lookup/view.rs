//! Consistent reads of the tables.

use std::fmt;

use dyntrace_probes::thread_progress::{Pin, pin};

use super::list::{self, ModuleInfo, modules};
use super::resolve::{self, Location};
use crate::code::call::export_entry::{ExportEntry, out_of_memory};
use crate::code::call::hold::Hold;
use crate::code::call::index::CodeIndex;
use crate::code::version::tables::{Tables, tables};

/// The modules at one instant. All answers of a view belong to that instant.
///
/// A view exists only inside the closure passed to [`View::with`]. The thread is pinned while the closure runs.
pub struct View {
    tables: &'static Tables,
    /// Loaded once.
    index: CodeIndex,
    pinned: Pin,
}

impl View {
    /// Runs `look` with a view of this instant and returns its result. Views may nest.
    ///
    /// Until `look` returns or panics, no upgrade, purge or trace setting of the process completes: keep it to a few look-ups.
    /// Inside it, changes on this thread are refused, because they would wait for the view itself:
    /// [`prepare`](crate::code::prepare), [`finish`](crate::code::finish()), [`delete`](crate::code::delete),
    /// [`purge`](crate::code::purge) and the like return [`Error::InView`](crate::code::Error::InView), a trace session's `pattern` returns
    /// [`Error::InView`](crate::trace::Error::InView), and a recording that is stopped there leaves its files uncut and says so.
    /// Waiting inside it for *another* thread that makes a change is a deadlock, as with a lock that the caller holds.
    ///
    /// ```
    /// let names = dyntrace::code::View::with(|view| {
    ///     view.modules().into_iter().map(|module| module.name).collect::<Vec<_>>()
    /// });
    /// assert!(names.is_empty());
    /// ```
    ///
    /// The view cannot leave the closure:
    ///
    /// ```compile_fail,E0521
    /// # let mut kept = None;
    /// dyntrace::code::View::with(|view| kept = Some(view));
    /// ```
    pub fn with<R>(look: impl FnOnce(&View) -> R) -> R {
        View::of(tables(), look)
    }

    pub(crate) fn of<R>(tables: &'static Tables, look: impl FnOnce(&View) -> R) -> R {
        // The view is a local that is only lent, so pins end in the reverse order of their beginnings, also if `look` panics.
        let pinned = pin().unwrap_or_else(out_of_memory);
        let view = View { tables, index: tables.active.index(), pinned };
        look(&view)
    }

    /// Returns all modules that have a current or an old version, sorted by name.
    pub fn modules(&self) -> Vec<ModuleInfo> {
        list::of(&self.tables.with(self.index, &self.pinned, modules))
    }

    /// Returns the location of an address. `None` if no module is mapped there.
    pub fn resolve(&self, address: usize) -> Option<Location> {
        self.tables.with(self.index, &self.pinned, |set| resolve::find(set, address))
    }

    /// An export's code, and a hold of its version.
    pub(crate) fn hold(&self, entry: &ExportEntry) -> Option<(*const (), Hold)> {
        let target = entry.target(self.index, &self.pinned)?;
        Some((target.code, Hold::new(target.holds)))
    }
}

impl fmt::Debug for View {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("View")
    }
}
