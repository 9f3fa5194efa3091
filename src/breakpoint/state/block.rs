//! Memory of breakpoints: those that are made together lie together, since one by one they would take longer to get and to give
//! back than to set.

use std::cell::Cell;
use std::ptr::NonNull;

use super::generic_bp::{Bp, GenericBp};

/// Breakpoints that are freed together. For who has the permission.
pub(crate) struct Block {
    bps: Box<[GenericBp]>,
    /// How many of them are not freed yet.
    left: Cell<usize>,
}

impl Block {
    fn new(count: usize) -> NonNull<Block> {
        let block = NonNull::from(Box::leak(Box::new(Block { bps: Box::default(), left: Cell::new(count) })));
        // SAFETY: nobody else knows it.
        unsafe { (*block.as_ptr()).bps = (0..count).map(|_| GenericBp::new(block)).collect() };
        block
    }

    /// The only one of its block.
    pub(crate) fn of_one() -> Bp {
        NewBps::new(1).next()
    }

    /// So many of its breakpoints are freed.
    ///
    /// # Safety
    ///
    /// They were not before, and nobody has them any more. The caller has the permission, or nobody else knows the block.
    pub(crate) unsafe fn forget(block: NonNull<Block>, count: usize) {
        // SAFETY: there as long as any of them is not freed.
        let left = &unsafe { block.as_ref() }.left;
        left.set(left.get() - count);
        if left.get() == 0 {
            // SAFETY: leaked by `new`; nobody has any of it.
            drop(unsafe { Box::from_raw(block.as_ptr()) });
        }
    }
}

/// Breakpoints in the making.
pub(crate) struct NewBps {
    /// How many may be asked for yet.
    wanted: usize,
    block: Option<NonNull<Block>>,
    /// How many of the block have been asked for.
    given: usize,
}

// SAFETY: who has it is the only one who knows those that it has not given yet.
unsafe impl Send for NewBps {}

impl NewBps {
    /// So many lie together at most.
    const MOST: usize = 256;

    /// No more than `wanted` will be asked for.
    pub(crate) fn new(wanted: usize) -> NewBps {
        NewBps { wanted, block: None, given: 0 }
    }

    /// The next one, which no site has: both generations disabled.
    pub(crate) fn next(&mut self) -> Bp {
        let wanted = self.wanted.min(NewBps::MOST);
        let block = *self.block.get_or_insert_with(|| Block::new(wanted));
        // SAFETY: some of its breakpoints have not been given, so that nobody frees it.
        let bps = &unsafe { block.as_ref() }.bps;
        let bp = Bp::new(&bps[self.given]);
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
            // SAFETY: these were given to nobody.
            unsafe { Block::forget(block, left) }
        }
    }
}
