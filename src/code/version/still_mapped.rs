//! The count of versions that stay mapped though they cannot be called.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use super::descriptor::Descriptor;
use super::image::{Mapping, Unmapped};

static KEPT: AtomicUsize = AtomicUsize::new(0);

pub(crate) fn count() {
    KEPT.fetch_add(1, Relaxed);
}

/// Discards a library whose constructors have run, but which never became a version: unmaps it if its module is unloadable, else
/// keeps and counts it.
///
/// # Safety
///
/// The descriptor is the library's, and nothing of the library but its descriptor's lists has been used.
pub(crate) unsafe fn discard(descriptor: &Descriptor, mapping: &dyn Mapping) {
    // SAFETY: as the caller and the module promise.
    if descriptor.unloadable.is_none() || unsafe { mapping.unmap() } == Unmapped::Kept {
        count();
    }
}

/// Returns the number of versions that stay mapped after they were purged, or without ever being current: their modules are not
/// [`Unloadable`](super::descriptor::Unloadable), or the system keeps them for destructors of thread-local values. Each takes the
/// memory of its library.
pub fn kept() -> usize {
    KEPT.load(Relaxed)
}
