//! Values that a forked child has anew: the parent's may be locked by a thread that the child does not have.

use std::ptr;
use std::sync::atomic::AtomicBool;

use crate::sync::atomic::{AtomicPtr, Ordering};

/// Made when it is first asked for; never freed.
pub(super) struct PerProcess<T: 'static> {
    /// Null, or what `make` stored.
    current: AtomicPtr<T>,
    /// It is in the list of those that a forked child forgets.
    is_listed: AtomicBool,
}

/// The values that a forked child forgets, the newest first. It only grows.
static LIST: std::sync::atomic::AtomicPtr<Listed> = std::sync::atomic::AtomicPtr::new(ptr::null_mut());

struct Listed {
    value: &'static (dyn Forget + Sync),
    next: *mut Listed,
}

trait Forget {
    fn forget(&self);
}

impl<T: Default + Send + Sync> PerProcess<T> {
    #[cfg(not(loom))]
    pub(super) const fn new() -> PerProcess<T> {
        PerProcess { current: AtomicPtr::new(ptr::null_mut()), is_listed: AtomicBool::new(false) }
    }

    #[cfg(loom)]
    pub(super) fn new() -> PerProcess<T> {
        PerProcess { current: AtomicPtr::new(ptr::null_mut()), is_listed: AtomicBool::new(false) }
    }

    /// What is there already. Safe in signal handlers.
    pub(super) fn peek(&self) -> Option<&'static T> {
        // Acquire: with `make`.
        // SAFETY: null, or a box that `make` leaked; nobody has it but by shared references.
        unsafe { self.current.load(Ordering::Acquire).as_ref() }
    }

    pub(super) fn get(&'static self) -> &'static T {
        self.peek().unwrap_or_else(|| self.make())
    }

    #[cold]
    fn make(&'static self) -> &'static T {
        // First: a fork may come as soon as others can find the value.
        self.list();
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

    /// Adds it to the list. Threads that do so at once add it twice, which is harmless. Models do not fork.
    fn list(&'static self) {
        if cfg!(loom) || self.is_listed.load(Ordering::Relaxed) {
            return;
        }
        let new = Box::into_raw(Box::new(Listed { value: self, next: ptr::null_mut() }));
        // Release: with `forget_all`.
        let _ = LIST.fetch_update(Ordering::Release, Ordering::Relaxed, |first| {
            // SAFETY: leaked above, and nobody has it before the exchange.
            unsafe { (*new).next = first };
            Some(new)
        });
        self.is_listed.store(true, Ordering::Relaxed);
    }
}

impl<T: 'static> Forget for PerProcess<T> {
    fn forget(&self) {
        self.current.store(ptr::null_mut(), Ordering::Relaxed);
    }
}

/// In a forked child.
pub(super) fn forget_all() {
    let mut next = LIST.load(Ordering::Acquire);
    // SAFETY: null, or a box that `list` leaked and nobody changes any more.
    while let Some(Listed { value, next: behind }) = unsafe { next.as_ref() } {
        value.forget();
        next = *behind;
    }
}
