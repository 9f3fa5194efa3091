//! The generic breakpoint: both generations of what is done where a function is hit, and which of them is in force.
//!
//! Whoever has the permission writes the staging generation, and the word; see the numbered steps of the room.

use std::cell::Cell;
use std::ptr::{self, NonNull};
use std::sync::Arc;

use super::block::Block;
use super::data::BpData;
use crate::breakpoint::site::Site;
use crate::sync::atomic::{AtomicUsize, Ordering};
use crate::sync::cell::UnsafeCell;
use crate::sync::global;
use crate::thread_progress::Pin;

// The index of the generation that hits go by, of every breakpoint.
global! {
    static ACTIVE: AtomicUsize = AtomicUsize::new(0);
}

/// One function's breakpoint.
pub(crate) struct GenericBp {
    generations: [UnsafeCell<Generation>; 2],
    /// What it lies in. For who has the permission, as what follows.
    block: NonNull<Block>,
    /// Whether a setting that is under way changes it.
    is_staged: Cell<bool>,
}

/// `None`: disabled.
pub(crate) type Generation = Option<Arc<BpData>>;

impl GenericBp {
    /// Both generations disabled.
    pub(crate) fn new(block: NonNull<Block>) -> GenericBp {
        GenericBp { generations: [UnsafeCell::new(None), UnsafeCell::new(None)], block, is_staged: Cell::new(false) }
    }
}

// SAFETY: the generations are shared by the rules above: hits read the active one, pinned; one writer writes the other. Only
// one task at a time has the permission, and the rest is touched by no other.
unsafe impl Send for GenericBp {}
// SAFETY: as above.
unsafe impl Sync for GenericBp {}

/// Runs `read` on what the site's breakpoint does now. `None` if it has none, or a disabled one.
#[inline(always)]
pub(crate) fn with_active<R>(_pinned: &Pin, site: &Site, read: impl FnOnce(&Arc<BpData>) -> R) -> Option<R> {
    // Only now: the word that the function saw may belong to a breakpoint that is freed.
    // Acquire: who sees the word sees the breakpoint. Partner: `Bp::publish`.
    let bp = site.word().load(Ordering::Acquire).cast::<GenericBp>();
    // SAFETY: published as a whole; taken out of the word before it is freed, with a wait between for who is pinned (10).
    let bp = unsafe { bp.as_ref() }?;
    // Relaxed: the waits of steps 4 and 8 keep the order.
    bp.generations[ACTIVE.load(Ordering::Relaxed) & 1].with(|generation| {
        // SAFETY: while this thread is pinned, nobody writes the generation that it has found active (8).
        unsafe { &*generation }.as_ref().map(read)
    })
}

/// Step 7: what is staged is in force, everywhere.
pub(crate) fn commit() {
    // Only the holder of the permission writes it. Relaxed: see `with_active`.
    let active = ACTIVE.load(Ordering::Relaxed);
    ACTIVE.store(1 - active, Ordering::Relaxed);
}

/// A breakpoint in the hands of who has the permission.
pub(crate) struct Bp(NonNull<GenericBp>);

// SAFETY: what it points to may be used from any thread.
unsafe impl Send for Bp {}
// SAFETY: as above; only one task has the permission.
unsafe impl Sync for Bp {}

impl Bp {
    /// One that no site has. It stays until it is [freed](Bp::free).
    pub(crate) fn new(bp: &GenericBp) -> Bp {
        Bp(NonNull::from(bp))
    }

    /// One that does this at once, for a site that nobody else knows: what is in force is staged, too.
    pub(crate) fn born(data: &Arc<BpData>) -> Bp {
        let bp = Block::of_one();
        for generation in &bp.bp().generations {
            // SAFETY: nobody else knows it.
            generation.with_mut(|generation| unsafe { *generation = Some(Arc::clone(data)) });
        }
        bp
    }

    /// The site's. The caller has the permission, and uses nothing of it afterwards.
    pub(crate) fn of(site: &Site) -> Option<Bp> {
        // Acquire: another thread may have had the permission then.
        NonNull::new(site.word().load(Ordering::Acquire).cast()).map(Bp)
    }

    fn bp(&self) -> &GenericBp {
        // SAFETY: freed by `free` only.
        unsafe { self.0.as_ref() }
    }

    /// Looks at what is in force.
    pub(crate) fn with_active<R>(&self, look: impl FnOnce(&Generation) -> R) -> R {
        // SAFETY: only the holder of the permission writes, which is who asks.
        self.bp().generations[ACTIVE.load(Ordering::Relaxed)].with(|generation| look(unsafe { &*generation }))
    }

    /// Step 3: what is to be in force after the next commit.
    pub(crate) fn stage(&self, new: Generation) {
        self.bp().is_staged.set(true);
        self.write(new);
    }

    /// Whether it is to be another after the next commit than it is.
    pub(crate) fn is_staged(&self) -> bool {
        self.bp().is_staged.get()
    }

    /// Step 11: the next commit changes nothing here.
    pub(crate) fn consolidate(&self) {
        self.bp().is_staged.set(false);
        self.write(self.with_active(Generation::clone));
    }

    /// Writes the generation that is not active.
    fn write(&self, new: Generation) {
        let staging = 1 - ACTIVE.load(Ordering::Relaxed);
        // SAFETY: no hit reads it: who found it active before the last commit has been waited for (8, 10).
        let before = self.bp().generations[staging].with_mut(|generation| unsafe { ptr::replace(generation, new) });
        drop(before);
    }

    /// Step 5: the site's word leads to it.
    pub(crate) fn publish(&self, site: &Site) {
        // Release: with `with_active`.
        site.word().store(self.0.as_ptr().cast(), Ordering::Release);
    }

    /// Step 9: the site's word leads nowhere.
    pub(crate) fn retract(site: &Site) {
        site.word().store(ptr::null_mut(), Ordering::Relaxed);
    }

    /// The site's, which it has no more from now on.
    pub(crate) fn take(site: &Site) -> Option<Bp> {
        NonNull::new(site.word().swap(ptr::null_mut(), Ordering::AcqRel).cast()).map(Bp)
    }

    /// Step 12.
    ///
    /// # Safety
    ///
    /// It is in no site's word, and every thread that may have found it there has been waited for. The caller has the permission.
    pub(crate) unsafe fn free(self) {
        for generation in &self.bp().generations {
            // Written, so that models see it when somebody still reads.
            // SAFETY: as the caller promises, nobody else has it.
            generation.with_mut(|generation| unsafe { *generation = None });
        }
        let block = self.bp().block;
        // SAFETY: it is one of the block's, and no more from now on.
        unsafe { Block::forget(block, 1) }
    }
}
