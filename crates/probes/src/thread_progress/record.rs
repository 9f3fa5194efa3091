//! One thread's record: whose it is, and whether that thread is pinned.

use std::ptr;
use std::sync::atomic::AtomicU64 as Tally;

use super::use_table::{UseTable, new_use_table};
use crate::primitives::atomic::{AtomicPtr, AtomicU64, AtomicUsize, Ordering};

/// The lower half of a word counts the pins that live, the upper half how often the outermost one ended. The upper half
/// may wrap: a wait that sees the same number again only lasts longer.
const NEST: usize = COMPLETION - 1;
const COMPLETION: usize = 1 << (usize::BITS / 2);

/// How many [tallies](super::tallies) there are.
pub(super) const TALLIES: usize = 4;

/// In cache lines of its own: others read it now and then, its thread writes it all the time. Processors fetch lines in pairs.
#[repr(align(128))]
#[derive(Default)]
pub(super) struct Record {
    /// The thread's id, zero for none, and in the upper half how often the record was taken, so that a thread takes it
    /// only from the owner that it has seen end.
    owner: AtomicU64,
    word: AtomicUsize,
    /// Null, or the table that `make_use_table` stored. It stays with the record.
    use_table: AtomicPtr<UseTable>,
    /// Always `std`'s: models have none.
    tallies: [Tally; TALLIES],
    /// Its place among all records, from 0; set before others see it.
    pub(super) number: u32,
}

/// A value of a record's owner.
#[derive(Clone, Copy)]
pub(super) struct Owner(u64);

impl Owner {
    /// Zero for none.
    #[inline]
    pub(super) fn thread(self) -> u32 {
        self.0 as u32
    }

    #[inline]
    pub(super) fn is_none(self) -> bool {
        self.thread() == 0
    }

    #[inline]
    fn next(self, thread: u32) -> u64 {
        ((self.0 >> 32).wrapping_add(1) << 32) | u64::from(thread)
    }
}

/// A value of a record's word.
#[derive(Clone, Copy)]
pub(super) struct Word(usize);

impl Word {
    #[inline]
    pub(super) fn is_pinned(self) -> bool {
        self.0 & NEST != 0
    }

    /// Returns whether the pin that `before` shows has ended.
    #[inline]
    pub(super) fn is_past(self, before: Word) -> bool {
        !self.is_pinned() || self.0 / COMPLETION != before.0 / COMPLETION
    }

    #[inline]
    pub(super) fn entered(self) -> Word {
        debug_assert!(self.0 & NEST != NEST, "too many pins");
        Word(self.0 + 1)
    }

    /// Returns the word that a pin which begins now stores at its end.
    #[inline]
    pub(super) fn after_pin(self) -> Word {
        if self.is_pinned() { self } else { Word(self.0.wrapping_add(COMPLETION)) }
    }
}

impl Record {
    /// Acquires the thread's writes before its store of the word: see step 6.
    #[inline]
    pub(super) fn word(&self) -> Word {
        Word(self.word.load(Ordering::Acquire))
    }

    /// Only for the record's own thread, which needs no order with itself.
    #[inline]
    pub(super) fn own_word(&self) -> Word {
        Word(self.word.load(Ordering::Relaxed))
    }

    /// Only for the record's own thread. Releases the thread's earlier writes to threads that wait for it.
    #[inline]
    pub(super) fn set_word(&self, word: Word) {
        self.word.store(word.0, Ordering::Release);
    }

    /// Begins a pin, and returns the word to end it with.
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

    #[inline]
    pub(super) fn owner(&self) -> Owner {
        Owner(self.owner.load(Ordering::Relaxed))
    }

    /// Makes it `thread`'s, if the owner is still `seen`. The word stays as the owner before left it.
    pub(super) fn take(&self, seen: Owner, thread: u32) -> bool {
        // Acquires the last store of the owner before to the word.
        self.owner.compare_exchange(seen.0, seen.next(thread), Ordering::AcqRel, Ordering::Relaxed).is_ok()
    }

    /// Frees it if the owner is still `seen`, whose thread has ended.
    pub(super) fn free_ended(&self, seen: Owner) {
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

    /// Only for the record's own thread, while it has no pin: ends a pin that the thread before left when it ended.
    pub(super) fn clear(&self) {
        let word = self.own_word();
        self.set_word(if word.is_pinned() { Word((word.0 & !NEST).wrapping_add(COMPLETION)) } else { word });
    }

    #[inline]
    pub(super) fn number(&self) -> usize {
        self.number as usize
    }

    /// Written by the record's own thread. They stay with the record.
    #[inline(always)]
    pub(super) fn tallies(&self) -> &[Tally; TALLIES] {
        &self.tallies
    }

    /// The thread's use counts; `None` if it has none yet.
    #[inline(always)]
    pub(super) fn use_table(&self) -> Option<&'static UseTable> {
        // Acquire: pairs with `make_use_table`, for other threads.
        // SAFETY: null, or a table that is never freed, shared by its atomics alone.
        unsafe { self.use_table.load(Ordering::Acquire).as_ref() }
    }

    /// Only for the record's own thread. Returns `None` without memory.
    #[cold]
    #[inline(never)]
    pub(super) fn make_use_table(&self) -> Option<&'static UseTable> {
        let new = ptr::from_ref(new_use_table()?).cast_mut();
        // A table that a signal handler made meanwhile is empty again; it is leaked.
        self.use_table.store(new, Ordering::Release);
        self.use_table()
    }

    /// Only in a forked child, which does not have the thread.
    pub(super) fn forget_use_table(&self) {
        self.use_table.store(ptr::null_mut(), Ordering::Relaxed);
    }
}
