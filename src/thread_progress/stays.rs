//! Stays: who is inside of something for as long as it likes, so that no pin can last that long.
//!
//! Each thread has a table of counts, one for each [`Place`]. A stay is begun by a thread that is pinned, lasts on when it is not
//! any more, and holds up nobody but who asks for that place. Who wants a place empty sees to it that nobody comes in any more, waits
//! for thread progress, so that all who are in are counted, and then looks until nobody is.
//!
//! Where waits put a barrier into every running thread, a pin is not needed ([`own_counts`]): who is counted in looks *afterwards* whether
//! the place may be entered yet. Either the barrier comes after the count, so that who waits sees it; or it comes before, and the look finds
//! what was changed before the wait.
//!
//! Stays of a thread nest as its calls do: each stores at its end what it found at its beginning, as pins do, and a signal handler's
//! lie within those of the code that it interrupts.

use std::cell::Cell;
use std::marker::PhantomData;

use super::counts::{Counts, PLACES};
use super::late::Pinned;
use super::os;
use super::pin::{EXPEDITED, Pin, REGISTRY};
use super::record::Record;
use crate::sync::atomic::{AtomicU32, Ordering};
use crate::sync::per_thread;

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

/// The counts of the current thread.
#[derive(Clone, Copy)]
pub(crate) struct OwnCounts(&'static Counts);

per_thread! {
    static OWN: Cell<Option<OwnCounts>> = Cell::new(None);
}

/// Those of the current thread, once a [pin](Pin::stay) has found that stays need none.
#[inline(always)]
pub(crate) fn own_counts() -> Option<OwnCounts> {
    OWN.with(Cell::get)
}

/// In a forked child, which may have to find that out again.
pub(super) fn forget() {
    OWN.with(|own| own.set(None));
}

impl OwnCounts {
    /// Counts the thread into the place, which may be given up at this moment: the caller looks at once whether it is, and leaves then.
    #[inline(always)]
    pub(crate) fn stay(self, place: Place) -> Stay {
        let stay = Stay::begin(self.0, place);
        // Its partner is the barrier of a wait (step 4).
        #[cfg(not(loom))]
        std::sync::atomic::compiler_fence(Ordering::SeqCst);
        #[cfg(loom)]
        crate::sync::atomic::fence(Ordering::SeqCst);
        stay
    }
}

impl Stay {
    #[inline(always)]
    fn begin(counts: &'static Counts, place: Place) -> Stay {
        let count = place.of(counts);
        // Relaxed: only this thread writes. Who waits sees it by the barrier, or by the end of the pin.
        let before = count.load(Ordering::Relaxed);
        count.store(before.wrapping_add(1), Ordering::Relaxed);
        Stay { count, before, not_send: PhantomData }
    }
}

impl Pin {
    /// Counts the thread into the place, for longer than the pin lasts. Of two stays of a thread, the one that began first ends last.
    ///
    /// `None` when there is no memory for the thread's counts.
    pub(crate) fn stay(&self, place: Place) -> Option<Stay> {
        let counts = match self.record.counts() {
            Some(counts) => counts,
            None => self.record.make_counts()?,
        };
        // Loom knows no barriers in other threads: there both sides have fences.
        if cfg!(loom) || EXPEDITED.load(Ordering::Relaxed) {
            OWN.with(|own| own.set(Some(OwnCounts(counts))));
        }
        Some(Stay::begin(counts, place))
    }
}

impl Drop for Stay {
    #[inline]
    fn drop(&mut self) {
        // Releases what was done inside. Partner: `Place::inside`.
        self.count.store(self.before, Ordering::Release);
    }
}
