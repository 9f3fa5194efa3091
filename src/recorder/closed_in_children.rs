//! Descriptors that a forked child closes: the other end shall see that the process that made them is gone, though a child lives.

use std::os::fd::{AsRawFd, RawFd};
use std::sync::atomic::AtomicI32;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

/// For the control socket, its connections, and files that grow.
const MOST: usize = 192;

/// Each a descriptor and one more; 0 for a free place.
static OPEN: [AtomicI32; MOST] = [const { AtomicI32::new(0) }; MOST];

/// While it lives, forked children close the descriptor. Dropped before the descriptor is closed.
#[derive(Debug)]
pub(super) struct ClosedInChildren(Option<&'static AtomicI32>);

impl ClosedInChildren {
    /// For `descriptor`. Where all places are taken, children keep it.
    pub(super) fn new(descriptor: &impl AsRawFd) -> ClosedInChildren {
        let value = descriptor.as_raw_fd() + 1;
        ClosedInChildren(OPEN.iter().find(|place| place.compare_exchange(0, value, Release, Relaxed).is_ok()))
    }
}

impl Drop for ClosedInChildren {
    fn drop(&mut self) {
        if let Some(place) = self.0 {
            place.store(0, Release);
        }
    }
}

/// In a forked child. What closes the same there later, closes nothing: it is leaked.
pub(super) fn close() {
    for place in &OPEN {
        let descriptor: RawFd = place.swap(0, Acquire) - 1;
        if descriptor >= 0 {
            // SAFETY: the parent's thread or value that owned it is not there, or is never used or dropped in the child.
            unsafe { libc::close(descriptor) };
        }
    }
}
