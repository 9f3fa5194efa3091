//! Values that each process makes for itself: a forked child may find its parent's locked by a thread that it does not have.

use std::ptr;
use std::sync::atomic::AtomicBool;

use super::os;
use crate::primitives::atomic::{AtomicPtr, Ordering};

/// Made at first use; never freed.
pub struct PerProcess<T: 'static> {
    /// Null, or the box that `make` leaked.
    current: AtomicPtr<T>,
    /// Runs in a forked child, and must call [`forget`](PerProcess::forget).
    in_child: extern "C" fn(),
    is_registered: AtomicBool,
}

impl<T: Default + Send + Sync> PerProcess<T> {
    #[cfg(not(loom))]
    pub const fn new(in_child: extern "C" fn()) -> PerProcess<T> {
        PerProcess { current: AtomicPtr::new(ptr::null_mut()), in_child, is_registered: AtomicBool::new(false) }
    }

    /// Models do not fork.
    #[cfg(loom)]
    pub fn new(in_child: extern "C" fn()) -> PerProcess<T> {
        PerProcess { current: AtomicPtr::new(ptr::null_mut()), in_child, is_registered: AtomicBool::new(true) }
    }

    /// Returns the value if it was made. Safe in signal handlers.
    pub fn peek(&self) -> Option<&'static T> {
        // Acquire: with `make`.
        // SAFETY: null, or a box that `make` leaked; all have it by shared references only.
        unsafe { self.current.load(Ordering::Acquire).as_ref() }
    }

    pub fn get(&self) -> &'static T {
        self.peek().unwrap_or_else(|| self.make())
    }

    #[cold]
    fn make(&self) -> &'static T {
        // Two threads may both register, which is harmless. Without memory for it, a child has its parent's value.
        if !self.is_registered.load(Ordering::Relaxed) && os::after_fork_in_child(self.in_child).is_ok() {
            self.is_registered.store(true, Ordering::Relaxed);
        }
        let new = Box::into_raw(Box::<T>::default());
        // Release: publishes the value. Acquire: for a value that another thread made.
        match self.current.compare_exchange(ptr::null_mut(), new, Ordering::AcqRel, Ordering::Acquire) {
            // SAFETY: as in `peek`.
            Ok(_) => unsafe { &*new },
            Err(other) => {
                // SAFETY: leaked above, and not published.
                drop(unsafe { Box::from_raw(new) });
                // SAFETY: as in `peek`; it was not null.
                unsafe { &*other }
            }
        }
    }

    /// Only in a forked child.
    pub fn forget(&self) {
        self.current.store(ptr::null_mut(), Ordering::Relaxed);
    }
}
