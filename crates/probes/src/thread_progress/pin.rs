//! Pins, and each thread's way to its record.

use std::cell::Cell;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicBool, compiler_fence};

use super::block::Blocks;
use super::record::{Record, Word};
use super::registry::Registry;
use super::{for_guests, os};
use crate::primitives::atomic::{AtomicPtr, Ordering, fence};
use crate::primitives::{global, per_thread};

global! {
    pub(super) static REGISTRY: Registry = Registry { blocks: Blocks { first: AtomicPtr::new(std::ptr::null_mut()) } };
}

per_thread! {
    pub(super) static OWN: Cell<Option<&'static Record>> = Cell::new(None);
}

/// Whether waits issue a barrier in every running thread, so that pins need none.
pub(super) static EXPEDITED: AtomicBool = AtomicBool::new(false);

/// Keeps the current thread pinned: no wait that begins from now on ends before the drop of this guard.
#[must_use = "the thread is unpinned when this is dropped"]
pub struct Pin {
    pub(super) record: &'static Record,
    /// The word that step 3 stores.
    after: Word,
    /// Only the record's thread may write it.
    not_send: PhantomData<*const ()>,
}

/// Pins the current thread. Returns `None` without memory for its record: then the caller must not read data that a wait guards.
///
/// Safe in a signal handler: takes no lock and no heap, keeps `errno`. Pins nest: of two, the one that began first is dropped last.
#[inline]
pub fn pin() -> Option<Pin> {
    match OWN.with(Cell::get) {
        Some(record) => Some(Pin::begin(record)),
        None => claim().map(Pin::begin),
    }
}

/// As [`pin`] for a thread that was pinned before; `None` for others. Calls no function, so that the compiler saves no registers.
#[inline(always)]
pub fn pin_again() -> Option<Pin> {
    OWN.with(Cell::get).map(Pin::begin)
}

impl Pin {
    #[inline(always)]
    fn begin(record: &'static Record) -> Pin {
        let after = record.enter(); // 1
        if EXPEDITED.load(Ordering::Relaxed) {
            compiler_fence(Ordering::SeqCst); // 2: its partner is the barrier of step 4
        } else {
            fence(Ordering::SeqCst); // 2: its partner is the fence of step 4
        }
        Pin { record, after, not_send: PhantomData }
    }
}

/// Returns whether the current thread is pinned. Then it must not wait: it would wait for itself.
#[inline]
pub fn is_pinned() -> bool {
    OWN.with(Cell::get).is_some_and(|record| record.own_word().is_pinned())
}

impl Drop for Pin {
    #[inline]
    fn drop(&mut self) {
        self.record.leave(self.after); // 3
    }
}

/// The current thread's record. `None` without memory.
#[inline]
pub(super) fn own_record() -> Option<&'static Record> {
    OWN.with(Cell::get).or_else(claim)
}

#[cold]
#[inline(never)]
pub(super) fn claim() -> Option<&'static Record> {
    if let Some(record) = for_guests::of_host() {
        OWN.with(|own| own.set(record));
        return record;
    }
    let record = REGISTRY.claim(os::thread_id(), os::has_ended)?; // 7, 8
    #[cfg(not(loom))]
    os::at_end_of_thread(|| {
        if let Some(record) = OWN.take() {
            record.free();
        }
    });
    OWN.with(|own| match own.get() {
        Some(handlers) if !std::ptr::eq(handlers, record) => {
            record.free(); // 9
            Some(handlers)
        }
        // A handler that runs before the store finds the same record, by step 7.
        _ => {
            own.set(Some(record));
            Some(record)
        }
    })
}
