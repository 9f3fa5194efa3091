//! Stays: who is inside of something for as long as it likes, so that no pin can last that long.
//!
//! Each thread has a table of counts, one for each [`Place`]. A stay is begun by a thread that is pinned, lasts on when it is not
//! any more, and holds up nobody but who asks for that place. Who wants a place empty sees to it that nobody comes in any more, waits
//! for thread progress, so that all who are in are counted, and then looks until nobody is.
//!
//! Stays of a thread nest as its calls do: each stores at its end what it found at its beginning, as pins do, and a signal handler's
//! lie within those of the code that it interrupts.

use std::marker::PhantomData;

use super::record::Record;
use super::{Pin, Pinned, REGISTRY, os};
use crate::sync::atomic::{AtomicU32, Ordering};

/// How many places there are; a power of two: a remainder by it spares a check.
pub(crate) const PLACES: usize = if cfg!(loom) { 2 } else { 1 << 13 };

/// One thread's.
pub(super) type Counts = [AtomicU32; PLACES];

/// What threads can be inside of, by a number below [`PLACES`] that is given out elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place(pub(crate) u32);

/// Keeps the current thread counted into a place until it is dropped.
#[must_use = "the thread is counted out when this is dropped"]
pub(crate) struct Stay {
    count: &'static AtomicU32,
    before: u32,
    /// Only the table's thread may write it.
    not_send: PhantomData<*const ()>,
}

impl Place {
    #[inline(always)]
    fn of(self, counts: &Counts) -> &AtomicU32 {
        &counts[self.0 as usize % PLACES]
    }

    /// Which threads are inside. Complete if nobody has come in since the last wait for thread progress; and what those did who
    /// have left, happened before this answer.
    pub(crate) fn inside(self) -> Vec<Pinned> {
        let count = |record: &Record| record.counts().map_or(0, |counts| self.of(counts).load(Ordering::Acquire));
        REGISTRY
            .records()
            .filter(|record| count(record) != 0)
            .map(|record| record.owner().thread())
            .filter(|thread| *thread != 0 && !os::has_ended(*thread))
            .map(|thread| Pinned { thread, name: os::thread_name(thread) })
            .collect()
    }
}

impl Pin {
    /// Counts the thread into the place, for longer than the pin lasts. Of two stays of a thread, the one that began first ends last.
    ///
    /// `None` when there is no memory for the thread's counts.
    #[inline]
    pub(crate) fn stay(&self, place: Place) -> Option<Stay> {
        let counts = match self.record.counts() {
            Some(counts) => counts,
            None => self.record.make_counts()?,
        };
        let count = place.of(counts);
        // Relaxed: only this thread writes; the end of the pin releases it to whoever waits for that.
        let before = count.load(Ordering::Relaxed);
        count.store(before.wrapping_add(1), Ordering::Relaxed);
        Some(Stay { count, before, not_send: PhantomData })
    }
}

impl Drop for Stay {
    #[inline]
    fn drop(&mut self) {
        // Releases what was done inside. Partner: `Place::inside`.
        self.count.store(self.before, Ordering::Release);
    }
}

/// Counts of zero, never freed.
#[cfg(not(loom))]
pub(super) fn new_counts() -> Option<&'static Counts> {
    use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous};
    let (protection, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE);
    // SAFETY: a new mapping, anywhere: it replaces none. Not from the heap: this may be a signal handler.
    let memory = unsafe { mmap_anonymous(std::ptr::null_mut(), size_of::<Counts>(), protection, flags) }.ok()?;
    // SAFETY: as long as the table, aligned to a page, zero, which is a value of every count, and never unmapped.
    Some(unsafe { &*memory.cast::<Counts>() })
}

#[cfg(loom)]
pub(super) fn new_counts() -> Option<&'static Counts> {
    Some(Box::leak(Box::new(std::array::from_fn(|_| AtomicU32::new(0)))))
}
