//! Export entries: what a call goes through. One for each module, export and signature that was ever loaded or asked for.

use std::collections::BTreeMap;
use std::fmt;
use std::ptr;

use super::error::CallError;
use super::index::{Active, CodeIndex, INDICES};
use super::missing::{self, Then};
use super::signature::SignatureHash;
use super::tables::Tables;
use super::version::Hold;
use crate::sync::atomic::{AtomicPtr, AtomicU32, AtomicUsize, Ordering};
use crate::thread_progress::{Pin, Place, Stay, own_counts, pin};

/// An export, whatever version has it. Never freed: handles keep it.
///
/// It lies in the host's memory. Handles in modules point to it too, so it leads to all that a call needs.
#[doc(hidden)]
pub struct Entry {
    slots: [Slot; INDICES],
    active: &'static Active,
    export: ExportName,
    /// The host's, so that handles in modules ask it, too.
    on_missing: fn(&ExportName) -> Then,
}

/// A target, as it is written by who has the permission. Who reads it sees to it that it is whole: by a pin, or by a second look.
struct Slot {
    /// Null: no version has the export.
    code: AtomicPtr<()>,
    place: AtomicU32,
    holds: AtomicPtr<AtomicUsize>,
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
    _stay: Stay,
}

/// All of them, by name.
pub(super) type Entries = BTreeMap<ExportName, &'static Entry>;

impl Entry {
    /// The one of this name, which has no target when it is new.
    pub(super) fn of(tables: &'static Tables, export: ExportName) -> &'static Entry {
        let mut entries = tables.entries();
        if let Some(entry) = entries.get(&export) {
            return entry;
        }
        let slots = std::array::from_fn(|_| Slot::empty());
        let (active, on_missing) = (&tables.active, missing::ask);
        let entry: &'static Entry = Box::leak(Box::new(Entry { slots, active, export: export.clone(), on_missing }));
        entries.insert(export, entry);
        entry
    }

    pub(super) fn export(&self) -> &ExportName {
        &self.export
    }

    /// Steps 1 to 4 of a call, which holds what it answers until the code has returned. `None` where they are to be done
    /// [pinned](Entry::enter_pinned).
    #[inline(always)]
    pub(super) fn enter(&self) -> Option<Entered> {
        let counts = own_counts()?;
        let seen = self.active.look(); // 1
        let slot = seen.index().of(&self.slots); // 2
        let code = slot.code.load(Ordering::Relaxed);
        let stay = counts.stay(Place(slot.place.load(Ordering::Relaxed))); // 3
        // Null needs no second look: whoever finds that looks again, pinned.
        (self.active.look() == seen && !code.is_null()).then_some(Entered { code, _stay: stay }) // 4
    }

    /// The same for any thread at any time. `None` if no version has the export.
    pub(super) fn enter_pinned(&self) -> Option<(Entered, Target)> {
        let pinned = pin().unwrap_or_else(no_memory);
        let target = self.target(self.active.index(), &pinned)?;
        let stay = pinned.stay(target.place).unwrap_or_else(no_memory);
        Some((Entered { code: target.code, _stay: stay }, target))
    }

    /// The same, and keeps the version for longer than the call.
    pub(super) fn enter_and_hold(&self) -> Option<(Entered, Hold)> {
        let (entered, target) = self.enter_pinned()?;
        Some((entered, Hold::new(target.holds)))
    }

    /// For a call that has found no version with the export.
    #[cold]
    #[inline(never)]
    pub(super) fn missing<T>(&'static self, enter: impl FnOnce(&Entry) -> Option<T>) -> Result<T, CallError> {
        let there = match (self.on_missing)(&self.export) {
            Then::Retry => enter(self),
            Then::Fail => None,
        };
        there.ok_or_else(|| self.not_there())
    }

    pub(super) fn not_there(&'static self) -> CallError {
        CallError::Missing { module: &self.export.module, export: &self.export.name }
    }

    /// Under an index that was in force while the thread was pinned.
    pub(super) fn target(&self, index: CodeIndex, _: &Pin) -> Option<Target> {
        index.of(&self.slots).get()
    }

    /// Step 3 of a finish: under the staging index, with the permission.
    pub(super) fn stage(&self, staging: CodeIndex, new: Option<Target>) {
        staging.of(&self.slots).set(new);
    }

    /// Step 3 of a finish: makes it under the staging index what it is under the one in force.
    pub(super) fn copy(&self, active: CodeIndex, staging: CodeIndex) {
        self.stage(staging, active.of(&self.slots).get());
    }
}

impl Slot {
    fn empty() -> Slot {
        let (code, holds) = (AtomicPtr::new(ptr::null_mut()), AtomicPtr::new(ptr::null_mut()));
        Slot { code, place: AtomicU32::new(0), holds }
    }

    // All relaxed: the waits before each commit, and after it, keep the order.

    /// By who is pinned, or has the permission.
    fn get(&self) -> Option<Target> {
        let code = self.code.load(Ordering::Relaxed);
        // SAFETY: null, or what `set` was given, which is never freed.
        let holds = unsafe { self.holds.load(Ordering::Relaxed).as_ref() }?;
        Some(Target { code, place: Place(self.place.load(Ordering::Relaxed)), holds })
    }

    fn set(&self, new: Option<Target>) {
        let (code, place, holds) = match new {
            Some(Target { code, place: Place(place), holds }) => {
                (code.cast_mut(), place, ptr::from_ref(holds).cast_mut())
            }
            None => (ptr::null_mut(), 0, ptr::null_mut()),
        };
        self.code.store(code, Ordering::Relaxed);
        self.place.store(place, Ordering::Relaxed);
        self.holds.store(holds, Ordering::Relaxed);
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
