//! Values that a forked child has anew: the parent's may be locked by a thread that the child does not have.

use std::ptr;

use crate::sync::atomic::{AtomicPtr, Ordering};

/// Made when it is first asked for; never freed.
pub(super) struct PerProcess<T: 'static> {
    /// Null, or what `make` stored.
    current: AtomicPtr<T>,
}

impl<T: Default + Send + Sync> PerProcess<T> {
    #[cfg(not(loom))]
    pub(super) const fn new() -> PerProcess<T> {
        PerProcess { current: AtomicPtr::new(ptr::null_mut()) }
    }

    #[cfg(loom)]
    pub(super) fn new() -> PerProcess<T> {
        PerProcess { current: AtomicPtr::new(ptr::null_mut()) }
    }

    /// What is there already. Safe in signal handlers.
    pub(super) fn peek(&self) -> Option<&'static T> {
        // Acquire: with `make`.
        // SAFETY: null, or a box that `make` leaked; nobody has it but by shared references.
        unsafe { self.current.load(Ordering::Acquire).as_ref() }
    }

    pub(super) fn get(&self) -> &'static T {
        self.peek().unwrap_or_else(|| self.make())
    }

    #[cold]
    fn make(&self) -> &'static T {
        let new = Box::into_raw(Box::<T>::default());
        // Release: who finds it finds it made. Acquire: another thread's, the same.
        match self.current.compare_exchange(ptr::null_mut(), new, Ordering::AcqRel, Ordering::Acquire) {
            // SAFETY: as in `peek`.
            Ok(_) => unsafe { &*new },
            Err(other) => {
                // SAFETY: leaked above, and nobody has seen it.
                drop(unsafe { Box::from_raw(new) });
                // SAFETY: as in `peek`; it was not null.
                unsafe { &*other }
            }
        }
    }

    /// In a forked child.
    pub(super) fn forget(&self) {
        self.current.store(ptr::null_mut(), Ordering::Relaxed);
    }
}
