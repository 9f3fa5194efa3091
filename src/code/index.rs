//! The code index: which of the three sets of code access structures is in force.

use crate::sync::atomic::{AtomicUsize, Ordering};

/// How many sets there are.
pub(super) const INDICES: usize = 3;

/// The index that is in force.
pub(super) struct Active(AtomicUsize);

/// One of the three.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CodeIndex(usize);

impl Active {
    #[cfg(not(loom))]
    pub(super) const fn new() -> Active {
        Active(AtomicUsize::new(0))
    }

    #[cfg(loom)]
    pub(super) fn new() -> Active {
        Active(AtomicUsize::new(0))
    }

    /// To be called while pinned, or with the permission.
    #[inline(always)]
    pub(super) fn index(&self) -> CodeIndex {
        // Relaxed: the wait before each commit keeps the order (step 5 of a finish).
        CodeIndex(self.0.load(Ordering::Relaxed))
    }

    /// Step 6 of a finish. With the permission.
    pub(super) fn commit(&self) {
        // Relaxed: as above. Release is for who counts on the commit's order among what one thread does: probes and history.
        self.0.store(self.index().next().0, Ordering::Release);
    }
}

impl CodeIndex {
    /// The one to be staged, if this is the one in force.
    pub(super) fn next(self) -> CodeIndex {
        CodeIndex((self.0 + 1) % INDICES)
    }

    /// The element of this index.
    #[inline(always)]
    pub(super) fn of<T>(self, each: &[T; INDICES]) -> &T {
        // SAFETY: made by `next` from 0 only.
        unsafe { each.get_unchecked(self.0) }
    }

    pub(super) fn of_mut<T>(self, each: &mut [T; INDICES]) -> &mut T {
        &mut each[self.0]
    }

    /// The two others.
    pub(super) fn others(self) -> [CodeIndex; INDICES - 1] {
        [self.next(), self.next().next()]
    }
}
