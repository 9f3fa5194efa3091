//! How many versions nobody can call, and are in memory nevertheless.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

static KEPT: AtomicUsize = AtomicUsize::new(0);

pub(super) fn count() {
    KEPT.fetch_add(1, Relaxed);
}

/// How many versions were purged, or never put in force, and are kept in memory: their modules do not say that they may be unloaded,
/// or the system keeps them, for the sake of destructors of thread-local values. Each takes what its library takes.
pub fn kept() -> usize {
    KEPT.load(Relaxed)
}
