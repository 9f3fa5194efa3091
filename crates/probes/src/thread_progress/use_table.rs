//! One thread's use counts.

use crate::primitives::atomic::AtomicU32;

/// How many slots there are; a power of two, so that a remainder replaces a bounds check.
pub const USE_SLOTS: usize = if cfg!(loom) { 2 } else { 1 << 13 };

pub(super) type UseTable = [AtomicU32; USE_SLOTS];

/// Makes a table of zeros, never freed.
#[cfg(not(loom))]
pub(super) fn new_use_table() -> Option<&'static UseTable> {
    use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous};
    let (protection, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE);
    // SAFETY: a new mapping, anywhere: it replaces none. Not from the heap: this may be a signal handler.
    let memory = unsafe { mmap_anonymous(std::ptr::null_mut(), size_of::<UseTable>(), protection, flags) }.ok()?;
    // SAFETY: as long as the table, aligned to a page, zero, which is a valid count, and never unmapped.
    Some(unsafe { &*memory.cast::<UseTable>() })
}

#[cfg(loom)]
pub(super) fn new_use_table() -> Option<&'static UseTable> {
    Some(Box::leak(Box::new(std::array::from_fn(|_| AtomicU32::new(0)))))
}
