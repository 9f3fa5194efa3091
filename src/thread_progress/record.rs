//! One thread's record: whose it is, and whether that thread is pinned.

use std::ptr;
use std::sync::atomic::AtomicU64 as Tally;

use super::counts::{Counts, new_counts};
use crate::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize, Ordering};

/// The lower half of a word counts the pins that live, the upper half how often the outermost one ended. The upper half
/// may wrap: who sees the same number again only waits longer.
const NEST: usize = COMPLETION - 1;
const COMPLETION: usize = 1 << (usize::BITS / 2);

/// How many tallies there are.
pub(super) const TALLIES: usize = 4;

/// In a cache line of its own: others read it now and then, its thread writes it all the time.
#[repr(align(64))]
#[derive(Default)]
pub(super) struct Record {
    /// The thread's id, zero for none, and in the upper half how often the record was taken, so that nobody takes it
    /// from another owner than the one that has ended.
    owner: AtomicU64,
    word: AtomicUsize,
    /// Null, or what `make_counts` stored. It goes with the record, whoever has that.
    counts: AtomicPtr<Counts>,
    /// `std`'s always: in models nobody has one.
    tallies: [Tally; TALLIES],
}

/// What a record said about its owner.
#[derive(Clone, Copy)]
pub(super) struct Owner(u64);

impl Owner {
    /// Zero for none.
    pub(super) fn thread(self) -> u32 {
        self.0 as u32
    }

    pub(super) fn is_none(self) -> bool {
        self.thread() == 0
    }

    fn next(self, thread: u32) -> u64 {
        ((self.0 >> 32).wrapping_add(1) << 32) | u64::from(thread)
    }
}

/// What a record's word said.
#[derive(Clone, Copy)]
pub(super) struct Word(usize);

impl Word {
    #[inline]
    pub(super) fn is_pinned(self) -> bool {
        self.0 & NEST != 0
    }

    /// Whether the pin that `before` shows is over.
    pub(super) fn is_past(self, before: Word) -> bool {
        !self.is_pinned() || self.0 / COMPLETION != before.0 / COMPLETION
    }

    #[inline]
    pub(super) fn entered(self) -> Word {
        debug_assert!(self.0 & NEST != NEST, "too many pins");
        Word(self.0 + 1)
    }

    /// What a pin that begins now leaves behind when it ends.
    #[inline]
    pub(super) fn after_pin(self) -> Word {
        if self.is_pinned() { self } else { Word(self.0.wrapping_add(COMPLETION)) }
    }
}

impl Record {
    /// Acquires what the thread did before it stored the word: see step 6.
    pub(super) fn word(&self) -> Word {
        Word(self.word.load(Ordering::Acquire))
    }

    /// Only for the record's own thread, which needs no order with itself.
    #[inline]
    pub(super) fn own_word(&self) -> Word {
        Word(self.word.load(Ordering::Relaxed))
    }

    /// Only for the record's own thread. Releases what the thread did before, to whoever waits for it.
    #[inline]
    pub(super) fn set_word(&self, word: Word) {
        self.word.store(word.0, Ordering::Release);
    }

    /// Begins a pin, and says what to end it with.
    #[inline]
    pub(super) fn enter(&self) -> Word {
        let before = self.own_word();
        self.set_word(before.entered());
        before.after_pin()
    }

    #[inline]
    pub(super) fn leave(&self, after: Word) {
        debug_assert_eq!(self.own_word().0 & NEST, (after.0 & NEST) + 1, "a pin within this one has not ended");
        self.set_word(after);
    }

    pub(super) fn owner(&self) -> Owner {
        Owner(self.owner.load(Ordering::Relaxed))
    }

    /// Makes it `thread`'s, if it is still as `seen`. The word stays what the one before left in it.
    pub(super) fn take(&self, seen: Owner, thread: u32) -> bool {
        // Acquires what the one before did, for the sake of the word.
        self.owner.compare_exchange(seen.0, seen.next(thread), Ordering::AcqRel, Ordering::Relaxed).is_ok()
    }

    /// Makes it nobody's, if it is still as `seen`: its thread has ended.
    pub(super) fn bury(&self, seen: Owner) {
        let _ = self.take(seen, 0);
    }

    /// Only for the record's own thread, and in a forked child.
    pub(super) fn free(&self) {
        self.hand_over(0);
    }

    /// Only for the record's own thread, and in a forked child.
    pub(super) fn hand_over(&self, thread: u32) {
        self.owner.store(self.owner().next(thread), Ordering::Release);
    }

    /// Only for the record's own thread, while no pin of its lives: ends what a thread left pinned when it ended.
    pub(super) fn clear(&self) {
        let word = self.own_word();
        self.set_word(if word.is_pinned() { Word((word.0 & !NEST).wrapping_add(COMPLETION)) } else { word });
    }

    /// Written by the record's own thread. They go with the record, whoever has that.
    #[inline(always)]
    pub(super) fn tallies(&self) -> &[Tally; TALLIES] {
        &self.tallies
    }

    /// How often the thread is in each place; `None` if it was in none yet.
    #[inline(always)]
    pub(super) fn counts(&self) -> Option<&'static Counts> {
        // Acquire: with `make_counts`, for other threads.
        // SAFETY: null, or a table that is never freed, shared by its atomics alone.
        unsafe { self.counts.load(Ordering::Acquire).as_ref() }
    }

    /// Only for the record's own thread. `None` without memory.
    #[cold]
    #[inline(never)]
    pub(super) fn make_counts(&self) -> Option<&'static Counts> {
        let new = ptr::from_ref(new_counts()?).cast_mut();
        // A signal handler that made one meanwhile has left it empty: it is not missed, and so small that it may stay.
        self.counts.store(new, Ordering::Release);
        self.counts()
    }

    /// Only in a forked child, which does not have the thread.
    pub(super) fn forget_counts(&self) {
        self.counts.store(ptr::null_mut(), Ordering::Relaxed);
    }
}
