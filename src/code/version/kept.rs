//! How many versions nobody can call, and are in memory nevertheless.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use super::descriptor::Descriptor;
use super::mapping::{Mapping, Unmapped};

static KEPT: AtomicUsize = AtomicUsize::new(0);

pub(crate) fn count() {
    KEPT.fetch_add(1, Relaxed);
}

/// Discards a library whose constructors have run and that was never made a version: it is unmapped if its module promises
/// that it may be, else kept and counted.
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

/// How many versions were purged, or never put in force, and are kept in memory: their modules do not promise that they are
/// [`Unloadable`](super::descriptor::Unloadable), or the system keeps them, for the sake of destructors of thread-local values. Each takes what its library takes.
pub fn kept() -> usize {
    KEPT.load(Relaxed)
}
