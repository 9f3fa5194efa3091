//! Export entries: what a call goes through. One for each module, export and signature that was ever loaded or asked for.

use std::collections::BTreeMap;
use std::fmt;

use super::error::CallError;
use super::index::{Active, CodeIndex, INDICES};
use super::locks;
use super::missing::{self, Then};
use super::signature::SignatureHash;
use super::version::Hold;
use crate::sync::atomic::AtomicUsize;
use crate::sync::cell::UnsafeCell;
use crate::sync::{Mutex, MutexGuard, global, lock};
use crate::thread_progress::{Pin, Place, Stay, pin};

/// An export, whatever version has it. Never freed: handles keep it.
///
/// It lies in the host's memory. Handles in modules point to it too, so it leads to all that a call needs.
#[doc(hidden)]
pub struct Entry {
    targets: [UnsafeCell<Option<Target>>; INDICES],
    active: &'static Active,
    export: ExportName,
    /// The host's, so that handles in modules ask it, too.
    on_missing: fn(&ExportName) -> Then,
}

impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Entry({})", self.export)
    }
}

/// What an export is known by. One of another signature is another export.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ExportName {
    pub(super) module: String,
    pub(super) name: String,
    pub(super) signature: SignatureHash,
}

/// Where an export is in one version.
#[derive(Clone, Copy, Debug)]
pub(super) struct Target {
    /// The wrapper made by the attribute `export`, of the entry's signature.
    pub(super) code: *const (),
    /// The version's: who is inside is counted there.
    pub(super) place: Place,
    /// The version's.
    pub(super) holds: &'static AtomicUsize,
}

// SAFETY: it points to code, which any thread may call, and to a count that is never freed.
unsafe impl Send for Target {}
// SAFETY: as above.
unsafe impl Sync for Target {}

/// A target that a call has found, whose version cannot go away meanwhile.
pub(super) struct Entered {
    pub(super) code: *const (),
    holds: &'static AtomicUsize,
    _stay: Stay,
}

// SAFETY: `targets` is read by who is pinned, under the index in force, and written under another one, which nobody reads, by who has
// the permission; see the numbered steps of the room.
unsafe impl Sync for Entry {}

global! {
    static ENTRIES: Mutex<Entries> = Mutex::new(Entries::new());
}

pub(super) type Entries = BTreeMap<ExportName, &'static Entry>;

/// See [`locks`].
pub(super) fn entries() -> MutexGuard<'static, Entries> {
    lock(&ENTRIES)
}

impl Entry {
    /// The one of this name, which has no target when it is new.
    pub(super) fn of(export: ExportName, active: &'static Active) -> &'static Entry {
        locks::prepare();
        let mut entries = entries();
        if let Some(entry) = entries.get(&export) {
            return entry;
        }
        let targets = std::array::from_fn(|_| UnsafeCell::new(None));
        let entry: &'static Entry =
            Box::leak(Box::new(Entry { targets, active, export: export.clone(), on_missing: missing::ask }));
        entries.insert(export, entry);
        entry
    }

    pub(super) fn export(&self) -> &ExportName {
        &self.export
    }

    /// Steps 1 to 5 of a call, which holds what it answers until the code has returned. `None` if no version has the export.
    #[inline]
    pub(super) fn enter(&self) -> Option<Entered> {
        let pinned = pin().unwrap_or_else(no_memory); // 1
        let Target { code, place, holds } = self.target(self.active.index(), &pinned)?; // 2, 3
        let stay = pinned.stay(place).unwrap_or_else(no_memory); // 4
        Some(Entered { code, holds, _stay: stay })
    }

    /// For a call that has found no version with the export.
    #[cold]
    #[inline(never)]
    pub(super) fn missing(&'static self) -> Result<Entered, CallError> {
        let there = match (self.on_missing)(&self.export) {
            Then::Retry => self.enter(),
            Then::Fail => None,
        };
        there.ok_or(CallError::Missing { module: &self.export.module, export: &self.export.name })
    }

    /// Under an index that was in force while the thread was pinned.
    #[inline]
    pub(super) fn target(&self, index: CodeIndex, _: &Pin) -> Option<Target> {
        // SAFETY: while this thread is pinned, nobody writes under an index that it has found in force.
        index.of(&self.targets).with(|target| unsafe { *target })
    }

    /// Step 3 of a finish: under the staging index, with the permission.
    pub(super) fn stage(&self, staging: CodeIndex, new: Option<Target>) {
        // SAFETY: nobody reads under it: who found it in force is waited for before it is staged again.
        staging.of(&self.targets).with_mut(|target| unsafe { *target = new });
    }

    /// Step 3 of a finish: makes it under the staging index what it is under the one in force.
    pub(super) fn copy(&self, active: CodeIndex, staging: CodeIndex) {
        // SAFETY: only who has the permission writes, which is who asks.
        self.stage(staging, active.of(&self.targets).with(|target| unsafe { *target }));
    }
}

impl Entered {
    /// Keeps the version for longer than the call.
    pub(super) fn hold(&self) -> Hold {
        Hold::new(self.holds)
    }
}

#[cold]
#[inline(never)]
pub(super) fn no_memory<T>() -> T {
    std::alloc::handle_alloc_error(std::alloc::Layout::new::<[u8; 4096]>())
}

impl fmt::Display for ExportName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}::{}", self.module, self.name)
    }
}
