//! Export entries: what a call goes through. One for each module, export and signature that was ever loaded or asked for.

use std::fmt;
use std::ptr;

use super::call_error::CallError;
use super::export_name::ExportName;
use super::hold::Hold;
use super::index::{Active, CodeIndex, INDICES};
use super::missing::{self, OnMissing};
use crate::sync::atomic::{AtomicPtr, AtomicU32, AtomicUsize, Ordering};
use crate::thread_progress::{InUse, Pin, UseSlot, own_use_counts, pin};

/// An export, whatever version has it. Never freed: handles keep it.
///
/// It lies in the host's memory. Handles in modules point to it too, so it leads to all that a call needs.
#[doc(hidden)]
pub struct ExportEntry {
    slots: [Slot; INDICES],
    active: &'static Active,
    export: ExportName,
    /// The host's, so that handles in modules ask it, too.
    on_missing: fn(&ExportName) -> OnMissing,
}

/// A target, as it is written by who has the permission. Who reads it sees to it that it is whole: by a pin, or by a second look.
struct Slot {
    /// Null: no version has the export.
    code: AtomicPtr<()>,
    place: AtomicU32,
    holds: AtomicPtr<AtomicUsize>,
}

impl fmt::Debug for ExportEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ExportEntry({})", self.export)
    }
}

/// Where an export is in one version.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Target {
    /// The wrapper made by the attribute `export`, of the entry's signature.
    pub(crate) code: *const (),
    /// The version's: who is inside is counted there.
    pub(crate) place: UseSlot,
    /// The version's.
    pub(crate) holds: &'static AtomicUsize,
}

// SAFETY: it points to code, which any thread may call, and to a count that is never freed.
unsafe impl Send for Target {}
// SAFETY: as above.
unsafe impl Sync for Target {}

/// A target that a call has found, whose version cannot go away meanwhile.
pub(crate) struct Entered {
    pub(crate) code: *const (),
    _stay: InUse,
}

impl ExportEntry {
    /// Without a target.
    pub(crate) fn new(active: &'static Active, export: ExportName) -> ExportEntry {
        ExportEntry { slots: std::array::from_fn(|_| Slot::empty()), active, export, on_missing: missing::ask }
    }

    pub(crate) fn export(&self) -> &ExportName {
        &self.export
    }

    /// Steps 1 to 4 of a call, which holds what it answers until the code has returned. `None` where they are to be done
    /// [pinned](ExportEntry::enter_pinned).
    #[inline(always)]
    pub(crate) fn enter(&self) -> Option<Entered> {
        let counts = own_use_counts()?;
        let seen = self.active.look(); // 1
        let slot = seen.index().of(&self.slots); // 2
        let code = slot.code.load(Ordering::Relaxed);
        let stay = counts.count_use(UseSlot(slot.place.load(Ordering::Relaxed))); // 3
        // Null needs no second look: whoever finds that looks again, pinned.
        (self.active.look() == seen && !code.is_null()).then_some(Entered { code, _stay: stay }) // 4
    }

    /// The same for any thread at any time. `None` if no version has the export.
    pub(crate) fn enter_pinned(&self) -> Option<(Entered, Target)> {
        let pinned = pin().unwrap_or_else(out_of_memory);
        let target = self.target(self.active.index(), &pinned)?;
        let stay = pinned.count_use(target.place).unwrap_or_else(out_of_memory);
        Some((Entered { code: target.code, _stay: stay }, target))
    }

    /// The same, and keeps the version for longer than the call.
    pub(crate) fn enter_and_hold(&self) -> Option<(Entered, Hold)> {
        let (entered, target) = self.enter_pinned()?;
        Some((entered, Hold::new(target.holds)))
    }

    /// For a call that has found no version with the export.
    #[cold]
    #[inline(never)]
    pub(crate) fn missing<T>(&'static self, enter: impl FnOnce(&ExportEntry) -> Option<T>) -> Result<T, CallError> {
        let there = match (self.on_missing)(&self.export) {
            OnMissing::Retry => enter(self),
            OnMissing::Fail => None,
        };
        there.ok_or_else(|| self.not_there())
    }

    pub(crate) fn not_there(&'static self) -> CallError {
        CallError::Missing { module: &self.export.module, export: &self.export.name }
    }

    /// Under an index that was in force while the thread was pinned.
    pub(crate) fn target(&self, index: CodeIndex, _: &Pin) -> Option<Target> {
        index.of(&self.slots).get()
    }

    /// Step 3 of a finish: under the staging index, with the permission.
    pub(crate) fn stage(&self, staging: CodeIndex, new: Option<Target>) {
        staging.of(&self.slots).set(new);
    }

    /// Step 3 of a finish: makes it under the staging index what it is under the one in force.
    pub(crate) fn copy(&self, active: CodeIndex, staging: CodeIndex) {
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
        Some(Target { code, place: UseSlot(self.place.load(Ordering::Relaxed)), holds })
    }

    fn set(&self, new: Option<Target>) {
        let (code, place, holds) = match new {
            Some(Target { code, place: UseSlot(place), holds }) => {
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
pub(crate) fn out_of_memory<T>() -> T {
    std::alloc::handle_alloc_error(std::alloc::Layout::new::<[u8; 4096]>())
}
