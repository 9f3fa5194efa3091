//! Memory for records, in pages that are never given back.

use std::ptr;

use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous};

use super::record::Record;
use crate::sync::atomic::{AtomicPtr, Ordering};

/// As many as fill a page of 4 KiB; in models so few that they run out.
const RECORDS: usize = if cfg!(any(loom, miri)) { 2 } else { 63 };

pub(super) struct Block {
    pub(super) records: [Record; RECORDS],
    /// The block that was first before this one; set before others see this one.
    pub(super) next: Option<&'static Block>,
}

/// Blocks, the newest first. It only grows.
pub(super) struct Blocks {
    /// Null, or what `push` stored.
    pub(super) first: AtomicPtr<Block>,
}

impl Block {
    /// A new block of free records, straight from the operating system: no heap, no lock. `None` without memory.
    pub(super) fn map() -> Option<&'static mut Block> {
        let (protection, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE);
        // SAFETY: a new mapping, anywhere: it replaces none.
        let memory = unsafe { mmap_anonymous(ptr::null_mut(), size_of::<Block>(), protection, flags) }.ok()?;
        let block = memory.cast::<Block>();
        // SAFETY: the mapping is as long as a block, aligned to a page, writable, nobody else's, and never unmapped.
        unsafe {
            block.write(Block { records: std::array::from_fn(|_| Record::default()), next: None });
            Some(&mut *block)
        }
    }
}

impl Blocks {
    pub(super) fn push(&self, block: &'static mut Block) -> &'static Block {
        let block = ptr::from_mut(block);
        let mut first = self.first.load(Ordering::Acquire);
        loop {
            // SAFETY: `block` came as a reference that nobody else has, and is not published yet.
            unsafe { (*block).next = Self::block(first) };
            // Releases the block's contents; its partner is the load in `iter`.
            match self.first.compare_exchange(first, block, Ordering::AcqRel, Ordering::Acquire) {
                // SAFETY: as in `block`.
                Ok(_) => return unsafe { &*block },
                Err(other) => first = other,
            }
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &'static Block> {
        std::iter::successors(Self::block(self.first.load(Ordering::Acquire)), |block| block.next)
    }

    fn block(first: *mut Block) -> Option<&'static Block> {
        // SAFETY: null or a block that `push` published, whole, never written again but for its atomics, never unmapped.
        unsafe { first.as_ref() }
    }
}
