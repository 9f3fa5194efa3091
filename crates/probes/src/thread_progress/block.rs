//! Memory for records, in pages that are never freed.

use std::ptr;

use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous};

use super::record::Record;
use crate::primitives::atomic::{AtomicPtr, Ordering};

/// As many as fit a page of 4 KiB; in models so few that they run out.
const RECORDS: usize = if cfg!(any(loom, miri)) { 2 } else { 63 };

pub(super) struct Block {
    pub(super) records: [Record; RECORDS],
    /// The block that was first before; set before others see this one.
    pub(super) next: Option<&'static Block>,
}

/// Blocks, the newest first. It only grows.
pub(super) struct Blocks {
    /// Null, or the block that `push` stored.
    pub(super) first: AtomicPtr<Block>,
}

impl Block {
    /// Maps a new block of free records, without heap or lock. Returns `None` without memory.
    pub(super) fn map() -> Option<&'static mut Block> {
        let (protection, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE);
        // SAFETY: a new mapping, anywhere: it replaces none.
        let memory = unsafe { mmap_anonymous(ptr::null_mut(), size_of::<Block>(), protection, flags) }.ok()?;
        let block = memory.cast::<Block>();
        // SAFETY: the mapping is as long as a block, aligned to a page, writable, not shared, and never unmapped.
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
            // SAFETY: `block` came as an exclusive reference, and is not published yet.
            let records = unsafe {
                (*block).next = Self::block(first);
                &mut (*block).records
            };
            let begin = Self::block(first).map_or(0, |next| next.records[0].number + RECORDS as u32);
            records.iter_mut().zip(begin..).for_each(|(record, number)| record.number = number);
            // Releases the block's contents; pairs with the load in `iter`.
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
        // SAFETY: null or a block that `push` published; after that only its atomics change, and it is never unmapped.
        unsafe { first.as_ref() }
    }
}
