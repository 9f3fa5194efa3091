//! The code index: which of the three sets of code access structures is active.

use dyntrace_probes::primitives::atomic::{AtomicUsize, Ordering};

/// The number of sets.
pub(crate) const INDICES: usize = 3;

/// The active index and the number of commits so far.
pub(crate) struct Active(AtomicUsize);

/// The active index at one time. No two commits have the same number.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct ActiveIndex(usize);

/// The bits below are the index, those from here on the number of commits.
const COMMIT: usize = 1 << 8;

/// One of the three.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CodeIndex(usize);

impl Active {
    #[cfg(not(loom))]
    pub(crate) const fn new() -> Active {
        Active(AtomicUsize::new(0))
    }

    #[cfg(loom)]
    pub(crate) fn new() -> Active {
        Active(AtomicUsize::new(0))
    }

    #[inline(always)]
    pub(crate) fn look(&self) -> ActiveIndex {
        // Acquire, paired with `commit`, for threads that are not pinned. It is free on most processors and needs no barrier on any.
        ActiveIndex(self.0.load(Ordering::Acquire))
    }

    /// The caller is pinned or has the permission.
    #[inline(always)]
    pub(crate) fn index(&self) -> CodeIndex {
        self.look().index()
    }

    /// Step 6 of a finish. The caller has the permission.
    pub(crate) fn commit(&self) {
        let ActiveIndex(now) = self.look();
        let commits = (now & !(COMMIT - 1)).wrapping_add(COMMIT);
        self.0.store(commits | self.index().next().0, Ordering::Release);
    }
}

impl ActiveIndex {
    #[inline(always)]
    pub(crate) fn index(self) -> CodeIndex {
        CodeIndex(self.0 % COMMIT)
    }
}

impl CodeIndex {
    /// The staging index if this is the active one.
    pub(crate) fn next(self) -> CodeIndex {
        CodeIndex((self.0 + 1) % INDICES)
    }

    /// The element at this index.
    #[inline(always)]
    pub(crate) fn of<T>(self, each: &[T; INDICES]) -> &T {
        // SAFETY: below `INDICES`, as it starts at 0 and only `next` changes it.
        unsafe { each.get_unchecked(self.0) }
    }

    pub(crate) fn of_mut<T>(self, each: &mut [T; INDICES]) -> &mut T {
        &mut each[self.0]
    }

    /// The two other indices.
    pub(crate) fn others(self) -> [CodeIndex; INDICES - 1] {
        [self.next(), self.next().next()]
    }
}
