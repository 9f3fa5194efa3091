//! The module table and the ranges, in three sets, and the staging of a set.

use std::collections::BTreeMap;
use std::mem;
use std::sync::{Arc, LazyLock};

use dyntrace_probes::primitives::cell::UnsafeCell;
use dyntrace_probes::primitives::{Mutex, MutexGuard, lock};
use dyntrace_probes::thread_progress::{Pin, pin};

use super::Version;
use super::counters;
use super::image::Image;
use crate::code::call::export_entry::{ExportEntry, Target, out_of_memory};
use crate::code::call::export_name::ExportName;
use crate::code::call::index::{Active, CodeIndex, INDICES};
use crate::permission::Permission;

/// The number of changes before other tasks get a turn.
pub(crate) const SLICE: usize = 256;

/// The tables that look-ups read. Calls read only [entries](ExportEntry).
pub(crate) struct Tables {
    pub(crate) active: Active,
    entries: Mutex<Entries>,
    sets: [UnsafeCell<TableSet>; INDICES],
    /// For each index, the keys whose values may differ from those under the active index.
    stale: Mutex<Stale>,
}

/// All entries by name.
type Entries = BTreeMap<ExportName, &'static ExportEntry>;

type Stale = [Vec<Key>; INDICES];

/// The tables under one index.
#[derive(Default)]
pub(crate) struct TableSet {
    pub(crate) modules: BTreeMap<Arc<str>, ModuleVersions>,
    /// By lowest address.
    pub(crate) ranges: BTreeMap<usize, Arc<Image>>,
}

#[derive(Clone, Default)]
pub(crate) struct ModuleVersions {
    pub(crate) current: Option<Arc<Version>>,
    pub(crate) old: Option<Arc<Version>>,
}

/// A change to stage: the key and its new value.
pub(crate) enum Change {
    Export(&'static ExportEntry, Option<Target>),
    Module(Arc<str>, ModuleVersions),
    Range(usize, Option<Arc<Image>>),
}

/// The key of a change.
#[derive(Clone)]
enum Key {
    Export(&'static ExportEntry),
    Module(Arc<str>),
    Range(usize),
}

/// The process's tables. Tests and models have their own.
pub(crate) fn tables() -> &'static Tables {
    static TABLES: LazyLock<Tables> = LazyLock::new(Tables::new);
    &TABLES
}

/// Makes forked children find the locks free, and the tables whole. Repeated calls do nothing.
fn prepare() {
    // Lock order: staging drops versions, which lock their pool of counters, while `stale` is locked. The lock that is taken first
    // must be registered last.
    counters::prepare();
    // Models do not fork.
    #[cfg(not(loom))]
    {
        dyntrace_probes::forks::hold_across_forks!(Entries, lock(&tables().entries));
        dyntrace_probes::forks::hold_across_forks!(Stale, tables().stale());
    }
}

// SAFETY: pinned threads read the set of the active index; the permission holder writes another set, which no thread reads. See the
// numbered steps of `code`.
unsafe impl Sync for Tables {}

impl Tables {
    pub(crate) fn new() -> Tables {
        Tables {
            active: Active::new(),
            entries: Mutex::new(Entries::new()),
            sets: std::array::from_fn(|_| UnsafeCell::new(TableSet::default())),
            stale: Mutex::new(Default::default()),
        }
    }

    /// Reads the active set, pinned.
    pub(crate) fn look<R>(&self, read: impl FnOnce(&TableSet) -> R) -> R {
        let pinned = pin().unwrap_or_else(out_of_memory);
        self.with(self.active.index(), &pinned, read)
    }

    /// Reads the set of an index that was active while the caller was pinned.
    pub(crate) fn with<R>(&self, index: CodeIndex, _: &Pin, read: impl FnOnce(&TableSet) -> R) -> R {
        // SAFETY: while this thread is pinned, no thread writes under an index that it has found active.
        index.of(&self.sets).with(|set| read(unsafe { &*set }))
    }

    /// Reads the active set, which stays active while the caller has the permission.
    pub(crate) fn with_permission<R>(&self, _: &Permission, read: impl FnOnce(&TableSet) -> R) -> R {
        // SAFETY: only the permission holder writes.
        self.active.index().of(&self.sets).with(|set| read(unsafe { &*set }))
    }

    /// Step 3 of a finish, in slices: copies stale values in the staging area from the active set. False if none were left.
    pub(crate) fn refresh(&self, _: &Permission) -> bool {
        let (active, staging) = self.indices();
        let mut stale = self.stale();
        let keys = staging.of_mut(&mut stale);
        // Removed only after they are copied.
        let rest = keys.len().saturating_sub(SLICE);
        for key in &keys[rest..] {
            self.copy(key, active, staging);
        }
        let was_stale = !keys.is_empty();
        keys.truncate(rest);
        was_stale
    }

    /// Step 3 of a finish, after the refresh: stages a slice of the new changes.
    pub(crate) fn stage(&self, _: &Permission, changes: impl IntoIterator<Item = Change>) {
        let (_, staging) = self.indices();
        let mut stale = self.stale();
        for change in changes {
            staging.of_mut(&mut stale).push(change.key());
            self.apply(change, staging);
        }
    }

    /// Step 6 of a finish.
    pub(crate) fn commit(&self, _: &Permission) {
        let (_, staging) = self.indices();
        let mut stale = self.stale();
        let changed = mem::take(staging.of_mut(&mut stale));
        for other in staging.others() {
            other.of_mut(&mut stale).extend(changed.iter().cloned());
        }
        self.active.commit();
    }

    /// The entry of this name, which has no target when it is new.
    pub(crate) fn entry(&'static self, export: ExportName) -> &'static ExportEntry {
        prepare();
        let mut entries = lock(&self.entries);
        if let Some(entry) = entries.get(&export) {
            return entry;
        }
        let entry: &'static ExportEntry = Box::leak(Box::new(ExportEntry::new(&self.active, export.clone())));
        entries.insert(export, entry);
        entry
    }

    /// Held while a set is changed, and during forks, so that a child finds each set whole.
    fn stale(&self) -> MutexGuard<'_, Stale> {
        lock(&self.stale)
    }

    fn indices(&self) -> (CodeIndex, CodeIndex) {
        let active = self.active.index();
        (active, active.next())
    }

    fn copy(&self, key: &Key, active: CodeIndex, staging: CodeIndex) {
        // SAFETY: only the permission holder writes, and it is the caller.
        let of_active = |read: &dyn Fn(&TableSet) -> Change| active.of(&self.sets).with(|set| read(unsafe { &*set }));
        let change = match key {
            Key::Export(entry) => return entry.copy(active, staging),
            Key::Module(name) => {
                of_active(&|set| Change::Module(name.clone(), set.modules.get(name).cloned().unwrap_or_default()))
            }
            Key::Range(start) => of_active(&|set| Change::Range(*start, set.ranges.get(start).cloned())),
        };
        self.apply(change, staging);
    }

    fn apply(&self, change: Change, staging: CodeIndex) {
        if let Change::Export(entry, target) = change {
            return entry.stage(staging, target);
        }
        // SAFETY: no thread reads this set: threads that found it active were waited for before it is staged again.
        staging.of(&self.sets).with_mut(|set| unsafe { (*set).apply(change) });
    }
}

impl TableSet {
    pub(crate) fn current(&self, module: &str) -> Option<&Arc<Version>> {
        self.modules.get(module)?.current.as_ref()
    }

    fn apply(&mut self, change: Change) {
        match change {
            Change::Export(..) => {}
            Change::Module(name, ModuleVersions { current: None, old: None }) => drop(self.modules.remove(&name)),
            Change::Module(name, module) => drop(self.modules.insert(name, module)),
            Change::Range(start, Some(image)) => drop(self.ranges.insert(start, image)),
            Change::Range(start, None) => drop(self.ranges.remove(&start)),
        }
    }
}

impl Change {
    fn key(&self) -> Key {
        match self {
            Change::Export(entry, _) => Key::Export(entry),
            Change::Module(name, _) => Key::Module(name.clone()),
            Change::Range(start, _) => Key::Range(*start),
        }
    }
}
