//! The sequence lock of a slot.

use crate::primitives::atomic::Ordering::{Acquire, Relaxed, Release};
use crate::primitives::atomic::{AtomicU32, AtomicU64, fence};

/// How often a reader copies a slot that changes meanwhile.
pub const TRIES: usize = 64;

/// Words that change together, of which the first one is their lock and half a word beside it. `OTHERS`: the number of the other words.
#[repr(C)]
#[derive(Debug)]
pub struct Locked<const OTHERS: usize> {
    lock: AtomicU32,
    beside: AtomicU32,
    others: [AtomicU64; OTHERS],
}

impl<const OTHERS: usize> Locked<OTHERS> {
    /// Makes words that are all 0, outside of a file.
    #[cfg(not(loom))]
    pub const fn new() -> Self {
        Locked { lock: AtomicU32::new(0), beside: AtomicU32::new(0), others: [const { AtomicU64::new(0) }; OTHERS] }
    }

    /// Changes words. The caller is the only writer at this time.
    ///
    /// Returns `false`, and changes nothing, if the lock is odd: a signal handler has interrupted a change of this thread.
    #[inline(always)]
    pub fn change(&self, change: impl FnOnce(&Changed<'_, OTHERS>)) -> bool {
        // Relaxed: the runtime orders this thread after the last writer.
        let lock = self.lock.load(Relaxed);
        if !lock.is_multiple_of(2) {
            return false;
        }
        // 1.
        self.lock.store(lock.wrapping_add(1), Relaxed);
        // A reader that sees a word of 2 sees the odd lock in a later copy. Partner: the fences of the reader.
        fence(Release);
        // 2.
        change(&Changed(self));
        // 3. Release: a reader that sees this lock in a copy sees all of 2 in a later copy.
        self.lock.store(lock.wrapping_add(2), Release);
        true
    }

    /// Returns the lock, for [`change_if`](Locked::change_if). `None` during a change.
    #[inline(always)]
    pub fn settled(&self) -> Option<u32> {
        // Acquire: the words that are read after this are those of this lock, or of a later one.
        let lock = self.lock.load(Acquire);
        lock.is_multiple_of(2).then_some(lock)
    }

    /// Changes words, unless a change has begun since [`settled`](Locked::settled) has returned `lock`. For words that several threads may
    /// change at a time. If it returns `true`, words that were read meanwhile were those before this change.
    #[inline(always)]
    pub fn change_if(&self, lock: u32, change: impl FnOnce(&Changed<'_, OTHERS>)) -> bool {
        // 1. Acquire: this change comes after the last one.
        if self.lock.compare_exchange(lock, lock.wrapping_add(1), Acquire, Relaxed).is_err() {
            return false;
        }
        // As in `change`.
        fence(Release);
        // 2.
        change(&Changed(self));
        // 3. Release: also for the next writer.
        self.lock.store(lock.wrapping_add(2), Release);
        true
    }

    /// Sets a word, from 1, to 0 if it has this value. Any thread may do so at any time, also during a change.
    ///
    /// For words that never get the same value twice, whose new values do not depend on the old one, and whose 0 readers understand without
    /// the other words.
    pub fn clear(&self, word: usize, value: u64) {
        // Relaxed: the 0 tells nothing of other words. If a change sets the word, its value stays, whichever of the two comes first.
        let _ = self.others[word - 1].compare_exchange(value, 0, Relaxed, Relaxed);
    }

    /// Returns a word, from 1, for the only writer.
    #[inline(always)]
    pub fn word(&self, word: usize) -> u64 {
        // Relaxed: as in `change`.
        self.others[word - 1].load(Relaxed)
    }

    /// Returns the half word beside the lock, for the only writer.
    #[inline(always)]
    pub fn beside(&self) -> u32 {
        // Relaxed: as in `change`.
        self.beside.load(Relaxed)
    }

    /// Copies all words: the lock with the half word beside it, and the others. For threads of the writer's process. `None` if the words
    /// change all the time.
    pub fn copied(&self) -> Option<(u64, [u64; OTHERS])> {
        (0..TRIES).find_map(|_| {
            // Acquire: partner of the writer's last store.
            let lock = self.lock.load(Acquire);
            let beside = self.beside.load(Relaxed);
            let others = std::array::from_fn(|word| self.others[word].load(Relaxed));
            after_copy();
            let is_settled = lock.is_multiple_of(2) && self.lock.load(Relaxed) == lock;
            is_settled.then_some((joined(lock, beside), others))
        })
    }
}

#[cfg(not(loom))]
impl<const OTHERS: usize> Default for Locked<OTHERS> {
    fn default() -> Self {
        Locked::new()
    }
}

#[cfg(loom)]
impl<const OTHERS: usize> Default for Locked<OTHERS> {
    fn default() -> Self {
        let others = std::array::from_fn(|_| AtomicU64::new(0));
        Locked { lock: AtomicU32::new(0), beside: AtomicU32::new(0), others }
    }
}

/// The words of a slot during a change.
#[derive(Debug)]
pub struct Changed<'s, const OTHERS: usize>(&'s Locked<OTHERS>);

impl<const OTHERS: usize> Changed<'_, OTHERS> {
    /// Returns a word, from 1.
    #[inline(always)]
    pub fn get(&self, word: usize) -> u64 {
        self.0.word(word)
    }

    /// Sets a word, from 1.
    #[inline(always)]
    pub fn set(&self, word: usize, value: u64) {
        self.0.others[word - 1].store(value, Relaxed);
    }

    /// Sets the half word beside the lock.
    #[inline(always)]
    pub fn set_beside(&self, value: u32) {
        self.0.beside.store(value, Relaxed);
    }
}

/// Orders a copy before the next one. Copies by a system call need it, too.
pub fn after_copy() {
    // Acquire: partner of the writer's fence and of its last store.
    fence(Acquire);
}

/// Whether the words of the second of three copies belong together: no change overlapped that copy.
pub fn settled<const WORDS: usize>(before: &[u64; WORDS], after: &[u64; WORDS]) -> bool {
    before[0] == after[0] && halves(before[0]).0.is_multiple_of(2)
}

/// The lock, and the half word beside it, of the first word: its first four bytes, and its last four.
pub fn halves(word: u64) -> (u32, u32) {
    let [a, b, c, d, e, f, g, h] = word.to_ne_bytes();
    (u32::from_ne_bytes([a, b, c, d]), u32::from_ne_bytes([e, f, g, h]))
}

/// The first word, of the lock and the half word beside it.
pub fn joined(lock: u32, beside: u32) -> u64 {
    let ([a, b, c, d], [e, f, g, h]) = (lock.to_ne_bytes(), beside.to_ne_bytes());
    u64::from_ne_bytes([a, b, c, d, e, f, g, h])
}

#[cfg(test)]
impl Locked<2> {
    /// Copies all words as a reader does. Other threads may change them meanwhile.
    fn copy(&self) -> [u64; 3] {
        let copy = [joined(self.lock.load(Relaxed), self.beside.load(Relaxed)), self.word(1), self.word(2)];
        after_copy();
        copy
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::thread;

    use super::*;

    fn slot(lock: u32) -> Locked<2> {
        Locked { lock: AtomicU32::new(lock), beside: AtomicU32::new(7), others: [1, 2].map(AtomicU64::new) }
    }

    #[test]
    fn a_change_within_a_change_is_refused() {
        let slot = slot(0);
        let is_changed = slot.change(|words| {
            words.set(1, 7);
            assert!(!slot.change(|inner| inner.set(1, 9)), "the lock is odd");
            assert!(!settled(&slot.copy(), &slot.copy()));
            assert_eq!(slot.copied(), None);
        });
        assert!(is_changed);
        assert_eq!(slot.copy(), [joined(2, 7), 7, 2]);
        assert_eq!(slot.copied(), Some((joined(2, 7), [7, 2])));
        assert!(settled(&slot.copy(), &slot.copy()));
        assert!(!settled(&[joined(2, 7), 0], &[joined(4, 7), 0]), "a change has overlapped the copies");
    }

    #[test]
    fn a_change_after_another_one_is_refused() {
        let slot = slot(u32::MAX - 1);
        let lock = slot.settled().unwrap();
        assert!(slot.change_if(lock, |words| {
            words.set(1, 7);
            assert_eq!(slot.settled(), None);
            assert!(!slot.change_if(lock, |inner| inner.set(1, 9)));
        }));
        assert!(!slot.change_if(lock, |words| words.set(1, 9)));
        assert_eq!((slot.settled(), slot.word(1)), (Some(0), 7));
    }

    #[test]
    fn a_word_is_cleared_only_of_its_value() {
        let slot = slot(0);
        slot.clear(2, 7);
        assert_eq!(slot.copy(), [joined(0, 7), 1, 2]);
        assert!(slot.change(|_| slot.clear(2, 2)));
        assert_eq!(slot.copy(), [joined(2, 7), 1, 0]);
    }

    /// No model: loom lets a store come between the read and the write of a compare-and-swap.
    #[test]
    fn a_word_that_is_cleared_too_late_keeps_its_next_value() {
        let (slot, last) = (slot(0), AtomicU64::new(0));
        thread::scope(|scope| {
            let clears = scope.spawn(|| {
                while last.load(Relaxed) != u64::MAX {
                    slot.clear(2, last.load(Relaxed));
                }
            });
            for value in 3..100_000 {
                assert!(slot.change(|words| words.set(2, value)));
                assert_eq!(slot.word(2), value);
                last.store(value, Relaxed);
            }
            last.store(u64::MAX, Relaxed);
            clears.join().unwrap();
        });
    }

    #[test]
    fn a_lock_that_begins_anew_leaves_the_other_half() {
        let slot = slot(u32::MAX - 1);
        slot.change(|words| words.set(1, 3));
        assert_eq!(slot.copy(), [joined(0, 7), 3, 2]);
        slot.change(|words| words.set_beside(u32::MAX));
        assert_eq!(halves(slot.copy()[0]), (2, u32::MAX));
    }
}

#[cfg(all(test, loom))]
mod models {
    use loom::sync::Arc;
    use loom::thread;

    use super::*;

    /// The words of a change are equal, so a mixture of two changes is seen. The second copy is as a system call makes it: word by word,
    /// here from the last to the first.
    #[test]
    fn loom_settled_words_are_of_one_change() {
        loom::model(|| {
            let slot = Arc::new(Locked::<2>::default());
            let writer = thread::spawn({
                let slot = Arc::clone(&slot);
                move || {
                    for value in 1..=2 {
                        slot.change(|words| {
                            words.set(1, value);
                            words.set(2, value);
                        });
                    }
                }
            });
            let lock = || {
                let lock = [joined(slot.lock.load(Relaxed), 0)];
                after_copy();
                lock
            };
            let before = lock();
            let (second, first) = (slot.word(2), slot.word(1));
            after_copy();
            let after = lock();
            if settled(&before, &after) {
                let changes = u64::from(halves(before[0]).0 / 2);
                assert_eq!((first, second), (changes, changes));
            }
            writer.join().unwrap();
            assert_eq!(slot.copy(), [joined(4, 0), 2, 2]);
        });
    }

    /// The half word beside the lock changes like a word: settled copies have it as the same change left it. A reader takes it from the
    /// second copy.
    #[test]
    fn loom_the_half_word_beside_the_lock_is_of_the_same_change() {
        loom::model(|| {
            let slot = Arc::new(Locked::<2>::default());
            let writer = thread::spawn({
                let slot = Arc::clone(&slot);
                move || {
                    for value in 1..=2 {
                        slot.change(|words| {
                            words.set(1, value.into());
                            words.set_beside(value);
                        });
                    }
                }
            });
            let lock = || {
                let lock = [joined(slot.lock.load(Relaxed), 0)];
                after_copy();
                lock
            };
            let before = lock();
            let (beside, first) = (slot.beside.load(Relaxed), slot.word(1));
            after_copy();
            let after = lock();
            if settled(&before, &after) {
                let changes = halves(before[0]).0 / 2;
                assert_eq!((beside, first), (changes, changes.into()));
            }
            writer.join().unwrap();
        });
    }

    /// The thread that has polled a task, and the one that polls it next, both may end the first poll: one of them does. Word 1 is the
    /// number of the running poll, word 2 how many have ended.
    #[test]
    fn loom_one_of_two_threads_ends_a_poll() {
        loom::model(|| {
            let slot = Arc::new(Locked::<2>::default());
            assert!(slot.change(|words| words.set(1, 1)));
            let next = thread::spawn({
                let slot = Arc::clone(&slot);
                move || {
                    let begin = |words: &Changed<'_, 2>| {
                        words.set(2, words.get(2) + words.get(1));
                        words.set(1, 2);
                    };
                    while !slot.settled().is_some_and(|lock| slot.change_if(lock, begin)) {
                        thread::yield_now();
                    }
                    // From here on it is the only writer.
                    assert!(slot.change(|words| words.set(2, words.get(2) + 4)));
                }
            });
            if let Some(lock) = slot.settled()
                && slot.word(1) == 1
            {
                slot.change_if(lock, |words| {
                    words.set(2, words.get(2) + 1);
                    words.set(1, 0);
                });
            }
            next.join().unwrap();
            assert_eq!((slot.word(1), slot.word(2)), (2, 5));
        });
    }

    /// One thread after the other writes a slot, ordered by the runtime, here by the end of the first.
    #[test]
    fn loom_the_next_writer_continues_the_lock() {
        loom::model(|| {
            let slot = Arc::new(Locked::<2>::default());
            let write = |value| {
                let slot = Arc::clone(&slot);
                move || assert!(slot.change(|words| words.set(1, value)))
            };
            thread::spawn(write(1)).join().unwrap();
            let writer = thread::spawn(write(2));
            let before = slot.copy();
            let words = slot.copy();
            let after = slot.copy();
            if settled(&before, &after) {
                assert_eq!(words[1], u64::from(halves(before[0]).0 / 2));
            }
            writer.join().unwrap();
        });
    }
}
