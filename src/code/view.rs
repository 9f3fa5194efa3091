//! A consistent look at what is in force.

use std::fmt;

use super::entry::{Entry, no_memory};
use super::index::CodeIndex;
use super::list::{self, ModuleInfo, modules};
use super::resolve::{self, Place};
use super::tables::{Tables, tables};
use super::version::Hold;
use crate::thread_progress::{Pin, pin};

/// What is in force at one instant: all that is asked through it is answered as of then.
///
/// While it lives its thread is pinned, and nothing that changes what runs gets on. So it is for a few look-ups one after the other,
/// and cannot be sent to another thread, nor kept across an `await` of a task that can.
///
/// ```
/// let view = dyntrace::code::View::new();
/// for module in view.modules() {
///     println!("{}", module.name);
/// }
/// ```
///
/// ```compile_fail
/// fn is_send<T: Send>(_: T) {}
/// is_send(dyntrace::code::View::new());
/// ```
pub struct View {
    tables: &'static Tables,
    /// Read once.
    index: CodeIndex,
    pinned: Pin,
}

impl View {
    /// Of this instant.
    #[expect(clippy::new_without_default, reason = "a look is no value to begin with")]
    pub fn new() -> View {
        View::of(tables())
    }

    pub(super) fn of(tables: &'static Tables) -> View {
        let pinned = pin().unwrap_or_else(no_memory);
        View { tables, index: tables.active.index(), pinned }
    }

    /// All modules that have a current or an old version, by name.
    pub fn modules(&self) -> Vec<ModuleInfo> {
        list::of(&self.tables.with(self.index, &self.pinned, modules))
    }

    /// What is at an address. `None` if no version of a module lies there.
    pub fn resolve(&self, address: usize) -> Option<Place> {
        self.tables.with(self.index, &self.pinned, |set| resolve::find(set, address))
    }

    /// An export's code, and what keeps its version.
    pub(super) fn hold(&self, entry: &Entry) -> Option<(*const (), Hold)> {
        let target = entry.target(self.index, &self.pinned)?;
        Some((target.code, Hold::new(target.holds)))
    }
}

impl fmt::Debug for View {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("View")
    }
}
