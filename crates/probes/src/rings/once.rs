//! Values that are made once, without a lock, which a fork could leave held.

use std::ptr;
use std::sync::atomic::AtomicPtr;
use std::sync::atomic::Ordering::{AcqRel, Acquire};

/// Returns the value behind `pointer`, which is null or was set by this function. Threads that call it at the same time may each make a
/// value; the first one stays, and is never freed.
#[inline]
pub fn get_or_init<T: Sync>(pointer: &AtomicPtr<T>, make: impl FnOnce() -> T) -> &'static T {
    // SAFETY: null, or a value that is never freed.
    if let Some(value) = unsafe { pointer.load(Acquire).as_ref() } {
        return value;
    }
    let new = Box::into_raw(Box::new(make()));
    match pointer.compare_exchange(ptr::null_mut(), new, AcqRel, Acquire) {
        // SAFETY: made above, and never freed.
        Ok(_) => unsafe { &*new },
        Err(other) => {
            // SAFETY: made above, and no other thread has seen it.
            drop(unsafe { Box::from_raw(new) });
            // SAFETY: another thread's, which is never freed.
            unsafe { &*other }
        }
    }
}
