//! Descriptors that a forked child closes, so that the other end sees when the parent is gone.

use std::os::fd::{AsRawFd, RawFd};
use std::sync::atomic::AtomicI32;
use std::sync::atomic::Ordering::Relaxed;

/// For the control socket, its connections, and files that grow.
const MOST: usize = 192;

/// Each a descriptor plus 1, or 0 if free. Relaxed, everywhere: only a forked child's one thread reads it, in a copy of this memory.
static OPEN: [AtomicI32; MOST] = [const { AtomicI32::new(0) }; MOST];

/// While it lives, forked children close the descriptor. Drop it before the descriptor.
#[derive(Debug)]
pub struct ClosedInChildren(Option<&'static AtomicI32>);

impl ClosedInChildren {
    /// If the table is full, children keep the descriptor open.
    pub fn new(descriptor: &impl AsRawFd) -> ClosedInChildren {
        let value = descriptor.as_raw_fd() + 1;
        ClosedInChildren(OPEN.iter().find(|entry| entry.compare_exchange(0, value, Relaxed, Relaxed).is_ok()))
    }
}

impl Drop for ClosedInChildren {
    fn drop(&mut self) {
        if let Some(entry) = self.0 {
            entry.store(0, Relaxed);
        }
    }
}

/// Closes them all, in a forked child, where their owners are never dropped.
pub fn close() {
    for entry in &OPEN {
        let descriptor: RawFd = entry.swap(0, Relaxed) - 1;
        if descriptor >= 0 {
            // SAFETY: its owner is a thread that the child does not have, or a value that the child never uses or drops.
            unsafe { libc::close(descriptor) };
        }
    }
}
