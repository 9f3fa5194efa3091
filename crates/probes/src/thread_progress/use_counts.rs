//! Use counts: for threads that use something, such as the code of a module, for longer than a pin may last.
//!
//! Each thread has a table of counts, one for each [`UseSlot`]. A pinned thread counts itself in, and stays counted when it unpins. That
//! delays only threads that wait for this slot. To drain a slot: stop new uses, wait for thread progress, so that all uses are counted,
//! and then poll the counts until they are zero.
//!
//! If waits issue a barrier in every running thread, no pin is needed ([`own_use_counts`]): a thread that has counted itself in checks
//! *afterwards* whether the slot is still open. Either the barrier comes after the count, so that the waiting thread sees it; or it comes
//! before, and the check finds the change that was made before the wait.
//!
//! Uses of a thread nest as its calls do: each stores at its end the count that it found at its beginning, as pins do. Those of a signal
//! handler lie within those of the code that it interrupts.

use std::cell::Cell;
use std::marker::PhantomData;

use super::os;
use super::pin::{EXPEDITED, Pin, REGISTRY};
use super::pinned::Pinned;
use super::record::Record;
use super::use_table::{USE_SLOTS, UseTable};
use crate::primitives::atomic::{AtomicU32, Ordering};
use crate::primitives::per_thread;

/// Names one thing that threads use, by a number below [`USE_SLOTS`] that its room assigns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UseSlot(pub u32);

/// Keeps the current thread counted into a slot until it is dropped.
#[must_use = "the thread is counted out when this is dropped"]
pub struct InUse {
    count: &'static AtomicU32,
    before: u32,
    /// Only the table's thread may write it.
    not_send: PhantomData<*const ()>,
}

impl UseSlot {
    #[inline(always)]
    fn of(self, counts: &UseTable) -> &AtomicU32 {
        &counts[self.0 as usize % USE_SLOTS]
    }

    /// Returns the threads that use the slot. Complete if no use began since the last wait for thread progress. Writes
    /// inside uses that have ended happen before the return.
    #[inline]
    pub fn users(self) -> Vec<Pinned> {
        let count = |record: &Record| record.use_table().map_or(0, |counts| self.of(counts).load(Ordering::Acquire));
        REGISTRY
            .records()
            .filter(|record| count(record) != 0)
            .map(|record| record.owner().thread())
            .filter(|thread| *thread != 0 && !os::has_ended(*thread))
            .map(Pinned::new)
            .collect()
    }
}

/// The use counts of the current thread.
#[derive(Clone, Copy)]
pub struct OwnUseCounts(&'static UseTable);

per_thread! {
    static OWN: Cell<Option<OwnUseCounts>> = Cell::new(None);
}

/// Returns those of the current thread, once a [pin](Pin::count_use) has found that uses need no pin.
#[inline(always)]
pub fn own_use_counts() -> Option<OwnUseCounts> {
    OWN.with(Cell::get)
}

/// Runs in a forked child, which may have to find that out again.
pub(super) fn forget() {
    OWN.with(|own| own.set(None));
}

impl OwnUseCounts {
    /// Counts the thread into the slot, which another thread may be closing: the caller must check at once whether it is closed, and drop
    /// the result then.
    #[inline(always)]
    pub fn count_use(self, slot: UseSlot) -> InUse {
        let in_use = InUse::begin(self.0, slot);
        // Pairs with the barrier of a wait (step 4).
        #[cfg(not(loom))]
        std::sync::atomic::compiler_fence(Ordering::SeqCst);
        #[cfg(loom)]
        crate::primitives::atomic::fence(Ordering::SeqCst);
        in_use
    }
}

impl InUse {
    #[inline(always)]
    fn begin(counts: &'static UseTable, slot: UseSlot) -> InUse {
        let count = slot.of(counts);
        // Relaxed: only this thread writes. A waiting thread sees it by the barrier, or by the end of the pin.
        let before = count.load(Ordering::Relaxed);
        count.store(before.wrapping_add(1), Ordering::Relaxed);
        InUse { count, before, not_send: PhantomData }
    }
}

impl Pin {
    /// Counts the thread into the slot, for longer than the pin lasts. Of two uses of a thread, the one that began first ends last.
    ///
    /// Returns `None` without memory for the thread's counts.
    #[inline]
    pub fn count_use(&self, slot: UseSlot) -> Option<InUse> {
        let counts = match self.record.use_table() {
            Some(counts) => counts,
            None => self.record.make_use_table()?,
        };
        // Loom does not know barriers in other threads: in models both sides have fences.
        if cfg!(loom) || EXPEDITED.load(Ordering::Relaxed) {
            OWN.with(|own| own.set(Some(OwnUseCounts(counts))));
        }
        Some(InUse::begin(counts, slot))
    }
}

impl Drop for InUse {
    #[inline]
    fn drop(&mut self) {
        // Releases the writes made inside. Pairs with `UseSlot::users`.
        self.count.store(self.before, Ordering::Release);
    }
}
