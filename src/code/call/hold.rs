//! Holds: they keep a version in use for longer than a call.

use dyntrace_probes::primitives::atomic::{AtomicUsize, Ordering};

/// Keeps a version from being purged while a future or a borrowed handle lives, or a hook runs.
pub(crate) struct Hold(&'static AtomicUsize);

impl Hold {
    /// The caller is inside the version, or pinned, or keeps the version from being purged or dropped meanwhile.
    pub(crate) fn new(holds: &'static AtomicUsize) -> Hold {
        // Relaxed: leaving the version, unpinning, or releasing the permission to change code releases it.
        holds.fetch_add(1, Ordering::Relaxed);
        Hold(holds)
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        // Release: with the Acquire of `holds`. The purge sees this holder's accesses.
        self.0.fetch_sub(1, Ordering::Release);
    }
}
