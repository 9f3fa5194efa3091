//! The module table and the ranges, in three sets, and how a set is staged.

use std::collections::BTreeMap;
use std::mem;
use std::sync::{Arc, LazyLock};

use super::Version;
use super::counters;
use super::image::Image;
use crate::code::call::export_entry::{ExportEntry, Target, out_of_memory};
use crate::code::call::export_name::ExportName;
use crate::code::call::index::{Active, CodeIndex, INDICES};
use crate::sync::cell::UnsafeCell;
use crate::sync::{Mutex, MutexGuard, lock};
use crate::thread_progress::permission::Permission;
use crate::thread_progress::{Pin, pin};

/// So many entries are changed before others get a turn.
pub(crate) const SLICE: usize = 256;

/// What look-ups read; calls read [entries](ExportEntry) only.
pub(crate) struct Tables {
    pub(crate) active: Active,
    entries: Mutex<Entries>,
    sets: [UnsafeCell<TableSet>; INDICES],
    /// For each index what is, or may be, other than under the one in force.
    stale: Mutex<Stale>,
}

/// All entries, by name.
type Entries = BTreeMap<ExportName, &'static ExportEntry>;

type Stale = [Vec<Key>; INDICES];

/// The tables under one index.
#[derive(Default)]
pub(crate) struct TableSet {
    pub(crate) modules: BTreeMap<Arc<str>, ModuleVersions>,
    /// By the lowest address.
    pub(crate) ranges: BTreeMap<usize, Arc<Image>>,
}

#[derive(Clone, Default)]
pub(crate) struct ModuleVersions {
    pub(crate) current: Option<Arc<Version>>,
    pub(crate) old: Option<Arc<Version>>,
}

/// What is to be other than it is.
pub(crate) enum Change {
    Export(&'static ExportEntry, Option<Target>),
    Module(Arc<str>, ModuleVersions),
    Range(usize, Option<Arc<Image>>),
}

/// What a change changes.
#[derive(Clone)]
enum Key {
    Export(&'static ExportEntry),
    Module(Arc<str>),
    Range(usize),
}

/// The process's; models have their own.
pub(crate) fn tables() -> &'static Tables {
    static TABLES: LazyLock<Tables> = LazyLock::new(Tables::new);
    &TABLES
}

/// Has forked children find the locks free, and what they guard whole, from now on.
fn prepare() {
    // Versions go, and give back their counters, while `stale` is locked: the lock that is taken first is noted last.
    counters::prepare();
    // In models nobody forks.
    #[cfg(not(loom))]
    {
        crate::forks::hold_across_forks!(Entries, tables().entries());
        crate::forks::hold_across_forks!(Stale, tables().stale());
    }
}

// SAFETY: the sets are read by who is pinned, under the index in force, and written under another one, which nobody reads, by who has
// the permission; see the numbered steps of the room.
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

    /// A look at what is in force.
    pub(crate) fn look<R>(&self, read: impl FnOnce(&TableSet) -> R) -> R {
        let pinned = pin().unwrap_or_else(out_of_memory);
        self.with(self.active.index(), &pinned, read)
    }

    /// What is in force, for as long as the caller is pinned.
    pub(crate) fn with<R>(&self, index: CodeIndex, _: &Pin, read: impl FnOnce(&TableSet) -> R) -> R {
        // SAFETY: while this thread is pinned, nobody writes under an index that it has found in force.
        index.of(&self.sets).with(|set| read(unsafe { &*set }))
    }

    /// What is in force, and stays so for as long as the caller has the permission.
    pub(crate) fn with_permission<R>(&self, _: &Permission, read: impl FnOnce(&TableSet) -> R) -> R {
        // SAFETY: only who has the permission writes.
        self.active.index().of(&self.sets).with(|set| read(unsafe { &*set }))
    }

    /// Step 3 of a finish, part by part: copies a part of what is stale in the staging area from what is in force. False if there
    /// was nothing left.
    pub(crate) fn refresh(&self, _: &Permission) -> bool {
        let (active, staging) = self.indices();
        let mut stale = self.stale();
        let keys = staging.of_mut(&mut stale);
        // Forgotten when it is done.
        let rest = keys.len().saturating_sub(SLICE);
        for key in &keys[rest..] {
            self.copy(key, active, staging);
        }
        let was_stale = !keys.is_empty();
        keys.truncate(rest);
        was_stale
    }

    /// Step 3 of a finish, after that: a part of what is new.
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
        let mut entries = self.entries();
        if let Some(entry) = entries.get(&export) {
            return entry;
        }
        let entry: &'static ExportEntry = Box::leak(Box::new(ExportEntry::new(&self.active, export.clone())));
        entries.insert(export, entry);
        entry
    }

    fn entries(&self) -> MutexGuard<'_, Entries> {
        lock(&self.entries)
    }

    /// Held whenever a set is changed, and so that no fork happens meanwhile: a child finds each set whole.
    fn stale(&self) -> MutexGuard<'_, Stale> {
        lock(&self.stale)
    }

    fn indices(&self) -> (CodeIndex, CodeIndex) {
        let active = self.active.index();
        (active, active.next())
    }

    fn copy(&self, key: &Key, active: CodeIndex, staging: CodeIndex) {
        // SAFETY: only who has the permission writes, which is who asks.
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
        // SAFETY: nobody reads under it: who found it in force is waited for before it is staged again.
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
