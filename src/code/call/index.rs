//! The code index: which of the three sets of code access structures is in force.

use crate::sync::atomic::{AtomicUsize, Ordering};

/// How many sets there are.
pub(crate) const INDICES: usize = 3;

/// The index that is in force, and how many commits there were.
pub(crate) struct Active(AtomicUsize);

/// What was in force at some time: no other commit has the same number.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Seen(usize);

/// The lowest bits are the index, those above the number of the commit.
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
    pub(crate) fn look(&self) -> Seen {
        // Acquire: with `commit`, for who is not pinned: on most processors it costs nothing, and on none a barrier.
        Seen(self.0.load(Ordering::Acquire))
    }

    /// To be called while pinned, or with the permission.
    #[inline(always)]
    pub(crate) fn index(&self) -> CodeIndex {
        self.look().index()
    }

    /// Step 6 of a finish. With the permission.
    pub(crate) fn commit(&self) {
        let Seen(now) = self.look();
        let commits = (now & !(COMMIT - 1)).wrapping_add(COMMIT);
        self.0.store(commits | self.index().next().0, Ordering::Release);
    }
}

impl Seen {
    #[inline(always)]
    pub(crate) fn index(self) -> CodeIndex {
        CodeIndex(self.0 % COMMIT)
    }
}

impl CodeIndex {
    /// The one to be staged, if this is the one in force.
    pub(crate) fn next(self) -> CodeIndex {
        CodeIndex((self.0 + 1) % INDICES)
    }

    /// The element of this index.
    #[inline(always)]
    pub(crate) fn of<T>(self, each: &[T; INDICES]) -> &T {
        // SAFETY: made by `next` from 0 only, as `commit` stores it.
        unsafe { each.get_unchecked(self.0) }
    }

    pub(crate) fn of_mut<T>(self, each: &mut [T; INDICES]) -> &mut T {
        &mut each[self.0]
    }

    /// The two others.
    pub(crate) fn others(self) -> [CodeIndex; INDICES - 1] {
        [self.next(), self.next().next()]
    }
}
