//! Memory of breakpoints. Those of one setting share blocks: allocating and freeing each one would take longer than setting it.

use std::cell::Cell;
use std::ptr::NonNull;

use super::generic_bp::{Bp, GenericBp};

/// Breakpoints that are freed together. Only the permission holder touches it.
pub(crate) struct Block {
    bps: Box<[GenericBp]>,
    /// The number of breakpoints that are not freed yet.
    left: Cell<usize>,
}

impl Block {
    fn new(count: usize) -> NonNull<Block> {
        let block = NonNull::from(Box::leak(Box::new(Block { bps: Box::default(), left: Cell::new(count) })));
        // SAFETY: no other reference exists yet.
        unsafe { (*block.as_ptr()).bps = (0..count).map(|_| GenericBp::new(block)).collect() };
        block
    }

    /// Returns a breakpoint alone in its block.
    pub(crate) fn of_one() -> Bp {
        NewBps::new(1).next(1)
    }

    /// Notes that `count` of its breakpoints are freed; frees the block with the last one.
    ///
    /// # Safety
    ///
    /// They were not freed before and are not used afterwards. The caller has the permission, or no other thread knows the block.
    pub(crate) unsafe fn forget(block: NonNull<Block>, count: usize) {
        // SAFETY: valid until its last breakpoint is freed.
        let left = &unsafe { block.as_ref() }.left;
        left.set(left.get() - count);
        if left.get() == 0 {
            // SAFETY: leaked by `new`; none of its breakpoints is used any more.
            drop(unsafe { Box::from_raw(block.as_ptr()) });
        }
    }
}

/// Makes breakpoints for a setting.
pub(crate) struct NewBps {
    /// The most breakpoints that are still needed.
    wanted: usize,
    block: Option<NonNull<Block>>,
    /// The number of the block's breakpoints that were handed out.
    given: usize,
}

// SAFETY: breakpoints that are not handed out have no other references.
unsafe impl Send for NewBps {}

impl NewBps {
    /// The most breakpoints of a block.
    const MOST: usize = 256;

    /// For at most `wanted` calls of [`next`](NewBps::next).
    pub(crate) fn new(wanted: usize) -> NewBps {
        NewBps { wanted, block: None, given: 0 }
    }

    /// Returns the next one, for `sites` sites; both generations are disabled.
    pub(crate) fn next(&mut self, sites: usize) -> Bp {
        let wanted = self.wanted.min(NewBps::MOST);
        let block = *self.block.get_or_insert_with(|| Block::new(wanted));
        // SAFETY: a block is not freed while breakpoints of it are not handed out.
        let bps = &unsafe { block.as_ref() }.bps;
        let bp = Bp::new(&bps[self.given], sites);
        self.given += 1;
        if self.given == bps.len() {
            (self.block, self.given) = (None, 0);
            self.wanted -= bps.len();
        }
        bp
    }
}

impl Drop for NewBps {
    fn drop(&mut self) {
        if let Some(block) = self.block {
            // SAFETY: as in `next`.
            let left = unsafe { block.as_ref() }.bps.len() - self.given;
            // SAFETY: these were never handed out.
            unsafe { Block::forget(block, left) }
        }
    }
}
