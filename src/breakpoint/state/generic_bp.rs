//! The generic breakpoint: two generations of the entries of functions that are set alike, and the index of the active generation.
//!
//! The permission holder writes the staging generation and the site's word, by the numbered steps in the head of `breakpoint`.

use std::cell::Cell;
use std::ptr::{self, NonNull};
use std::sync::Arc;

use dyntrace_probes::primitives::atomic::{AtomicUsize, Ordering};
use dyntrace_probes::primitives::cell::UnsafeCell;
use dyntrace_probes::primitives::global;
use dyntrace_probes::thread_progress::Pin;

use super::block::Block;
use super::data::BpData;
use crate::breakpoint::site::Site;
use crate::breakpoint::site::asked::{Asked, if_unmarked, unmarked};

// The index of the generation that hits read, for all breakpoints.
global! {
    static ACTIVE: AtomicUsize = AtomicUsize::new(0);
}

pub(crate) struct GenericBp {
    generations: [UnsafeCell<Generation>; 2],
    /// Owning block. Only the permission holder touches this and the following fields.
    block: NonNull<Block>,
    /// The number of sites that have it in their words, or get it there.
    sites: Cell<u32>,
    /// The number of the setting that changes it. 0 if none does. One that a fork or a drop left in the middle leaves its number.
    staged_by: Cell<u32>,
}

/// `None`: disabled.
pub(crate) type Generation = Option<Arc<BpData>>;

impl GenericBp {
    pub(crate) fn new(block: NonNull<Block>) -> GenericBp {
        let generations = [UnsafeCell::new(None), UnsafeCell::new(None)];
        GenericBp { generations, block, sites: Cell::new(0), staged_by: Cell::new(0) }
    }
}

// SAFETY: hits read the active generation, pinned; only the permission holder writes the other one, and touches the other fields. One
// task at a time has the permission.
unsafe impl Send for GenericBp {}
// SAFETY: as above.
unsafe impl Sync for GenericBp {}

/// Runs `read` on the active generation of the site's breakpoint. Returns `None` if the site has none, or a disabled one.
///
/// # Errors
///
/// The word is marked. The caller takes the mark back, unpinned, and tries again.
#[inline(always)]
pub(crate) fn with_active<R>(
    _pinned: &Pin,
    site: &Site,
    read: impl FnOnce(&Arc<BpData>) -> R,
) -> Result<Option<R>, Asked> {
    // Read again, pinned: the breakpoint of the word that the function saw may be freed.
    // Acquire: a thread that sees the word sees the breakpoint. Partner: `Bp::publish`.
    let bp = if_unmarked(site.word().load(Ordering::Acquire))?.cast::<GenericBp>();
    // SAFETY: published as a whole. Before it is freed it leaves the word, and a wait for pinned threads follows (10).
    let Some(bp) = (unsafe { bp.as_ref() }) else { return Ok(None) };
    // Relaxed: the waits of steps 4 and 8 keep the order.
    Ok(bp.generations[ACTIVE.load(Ordering::Relaxed) & 1].with(|generation| {
        // SAFETY: the generation that this thread found active is not written while it is pinned (8).
        unsafe { &*generation }.as_ref().map(read)
    }))
}

/// Step 7: puts the staging generation of all breakpoints into force.
pub(crate) fn commit() {
    // Only the permission holder writes it. Relaxed: see `with_active`.
    let active = ACTIVE.load(Ordering::Relaxed);
    ACTIVE.store(1 - active, Ordering::Relaxed);
}

/// A breakpoint, for the permission holder.
pub(crate) struct Bp(NonNull<GenericBp>);

// SAFETY: a reference to a `GenericBp`, which is `Sync`. Only the permission holder uses it, and one task at a time has the permission.
unsafe impl Send for Bp {}
// SAFETY: as for `Send`.
unsafe impl Sync for Bp {}

impl Bp {
    /// Refers to a breakpoint that no site has yet, for this number of `sites`. It stays until it is [freed](Bp::free).
    pub(crate) fn new(bp: &GenericBp, sites: usize) -> Bp {
        bp.sites.set(u32::try_from(sites).expect("no program has so many functions"));
        Bp(NonNull::from(bp))
    }

    /// Makes a breakpoint with both generations set, for a site that no other thread knows.
    pub(crate) fn in_force(data: &Arc<BpData>) -> Bp {
        let bp = Block::of_one();
        bp.fill(&Some(Arc::clone(data)));
        bp
    }

    /// Makes `copy`, which no site has yet, a copy of it for some of its sites. The caller [hands them over](Bp::hand_over).
    pub(crate) fn split(&self, copy: Bp) -> Bp {
        self.with_active(|generation| copy.fill(generation));
        copy
    }

    /// Gives one of its sites to the copy. One at a time: a setting that is left in between leaves it with the number of its sites.
    pub(crate) fn hand_over(&self, site: &Site, copy: &Bp) {
        copy.publish(site);
        self.bp().sites.set(self.bp().sites.get() - 1);
    }

    /// Writes both generations of a breakpoint that no site has yet.
    fn fill(&self, data: &Generation) {
        for generation in &self.bp().generations {
            // SAFETY: no other thread can reach it.
            generation.with_mut(|generation| unsafe { generation.write(data.clone()) });
        }
    }

    /// Its identity among those that are not freed.
    pub(crate) fn address(&self) -> usize {
        self.0.addr().get()
    }

    /// Returns the number of its sites.
    pub(crate) fn sites(&self) -> usize {
        self.bp().sites.get() as usize
    }

    /// Returns the site's breakpoint. The caller has the permission, and drops the result before releasing it.
    pub(crate) fn of(site: &Site) -> Option<Bp> {
        // Acquire: another thread may have published it. Partner: `publish`.
        NonNull::new(unmarked(site.word().load(Ordering::Acquire)).cast()).map(Bp)
    }

    fn bp(&self) -> &GenericBp {
        // SAFETY: valid until `free`, whose caller has no other `Bp` of this breakpoint.
        unsafe { self.0.as_ref() }
    }

    pub(crate) fn with_active<R>(&self, look: impl FnOnce(&Generation) -> R) -> R {
        // SAFETY: only the permission holder writes, which is the caller.
        self.bp().generations[ACTIVE.load(Ordering::Relaxed)].with(|generation| look(unsafe { &*generation }))
    }

    /// Step 3: writes the generation for the next commit, of the setting of this `number`. Discards what an earlier setting has left there.
    pub(crate) fn stage(&self, new: Generation, number: u32) {
        self.bp().staged_by.set(number);
        self.write(new);
    }

    /// Returns whether the setting of this `number` has staged it.
    pub(crate) fn is_staged_by(&self, number: u32) -> bool {
        self.bp().staged_by.get() == number
    }

    /// Step 11: copies the active generation into the other one, so that the next commit changes nothing here.
    pub(crate) fn consolidate(&self) {
        self.bp().staged_by.set(0);
        self.write(self.with_active(Generation::clone));
    }

    fn write(&self, new: Generation) {
        let staging = 1 - ACTIVE.load(Ordering::Relaxed);
        // SAFETY: no hit reads it: threads that found it active before the last commit were waited for (8, 10).
        let before = self.bp().generations[staging].with_mut(|generation| unsafe { ptr::replace(generation, new) });
        drop(before);
    }

    /// Step 5: points the site's word to it.
    ///
    /// A swap, as the next: loom takes a store for one that may come between the read and the write of a thread that takes a mark.
    pub(crate) fn publish(&self, site: &Site) {
        // Release: partners are `with_active`, `of` and `take`. Nothing is read of the old value.
        site.word().swap(self.0.as_ptr().cast(), Ordering::Release);
    }

    /// Step 9: clears the site's word.
    pub(crate) fn retract(site: &Site) {
        site.word().swap(ptr::null_mut(), Ordering::Relaxed);
    }

    /// Takes the breakpoint out of the site's word.
    pub(crate) fn take(site: &Site) -> Option<Bp> {
        // Acquire: another thread may have published it. Partner: `publish`. A reader that finds null reads nothing else.
        NonNull::new(unmarked(site.word().swap(ptr::null_mut(), Ordering::Acquire)).cast()).map(Bp)
    }

    /// Step 12: frees it.
    ///
    /// # Safety
    ///
    /// It is in no site's word, every thread that may have found it there was waited for, and no other `Bp` of it is used afterwards. The
    /// caller has the permission.
    pub(crate) unsafe fn free(self) {
        for generation in &self.bp().generations {
            // Written, so that models find threads that still read it.
            // SAFETY: as the caller promises, no other thread uses it.
            generation.with_mut(|generation| unsafe { *generation = None });
        }
        let block = self.bp().block;
        // SAFETY: it belongs to the block, and is not used afterwards.
        unsafe { Block::forget(block, 1) }
    }
}
