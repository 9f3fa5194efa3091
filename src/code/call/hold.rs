//! What keeps a version in use for longer than a call.

use crate::sync::atomic::{AtomicUsize, Ordering};

/// Keeps a version from being purged, for as long as a future or a borrowed handle lives.
pub(crate) struct Hold(&'static AtomicUsize);

impl Hold {
    /// By who is inside, or pinned.
    pub(crate) fn new(holds: &'static AtomicUsize) -> Hold {
        // Relaxed: the end of the stay, or of the pin, releases it.
        holds.fetch_add(1, Ordering::Relaxed);
        Hold(holds)
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Release);
    }
}
