//! How often a thread is in each [place](super::Place).

use crate::sync::atomic::AtomicU32;

/// How many places there are; a power of two: a remainder by it spares a check.
pub(crate) const PLACES: usize = if cfg!(loom) { 2 } else { 1 << 13 };

/// One thread's.
pub(super) type Counts = [AtomicU32; PLACES];

/// Counts of zero, never freed.
#[cfg(not(loom))]
pub(super) fn new_counts() -> Option<&'static Counts> {
    use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous};
    let (protection, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE);
    // SAFETY: a new mapping, anywhere: it replaces none. Not from the heap: this may be a signal handler.
    let memory = unsafe { mmap_anonymous(std::ptr::null_mut(), size_of::<Counts>(), protection, flags) }.ok()?;
    // SAFETY: as long as the table, aligned to a page, zero, which is a value of every count, and never unmapped.
    Some(unsafe { &*memory.cast::<Counts>() })
}

#[cfg(loom)]
pub(super) fn new_counts() -> Option<&'static Counts> {
    Some(Box::leak(Box::new(std::array::from_fn(|_| AtomicU32::new(0)))))
}
