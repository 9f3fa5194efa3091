//! The sequence lock of a slot.

use crate::primitives::atomic::Ordering::{Acquire, Relaxed, Release};
use crate::primitives::atomic::{AtomicU64, fence};

/// How often a reader copies a slot that changes meanwhile.
pub const TRIES: usize = 64;

/// Words that change together. The first one is their lock.
#[repr(C)]
#[derive(Debug)]
pub struct Locked<const WORDS: usize> {
    words: [AtomicU64; WORDS],
}

impl<const WORDS: usize> Locked<WORDS> {
    /// Changes words. The caller is the only writer at this time.
    ///
    /// Returns `false`, and changes nothing, if the lock is odd: a signal handler has interrupted a change of this thread.
    #[inline(always)]
    pub fn change(&self, change: impl FnOnce(&Changed<'_, WORDS>)) -> bool {
        // Relaxed: the runtime orders this thread after the last writer.
        let lock = self.words[0].load(Relaxed);
        if !lock.is_multiple_of(2) {
            return false;
        }
        // 1.
        self.words[0].store(lock.wrapping_add(1), Relaxed);
        // A reader that sees a word of 2 sees the odd lock in a later copy. Partner: the fences of the reader.
        fence(Release);
        // 2.
        change(&Changed(&self.words));
        // 3. Release: a reader that sees this lock in a copy sees all of 2 in a later copy.
        self.words[0].store(lock.wrapping_add(2), Release);
        true
    }

    /// Returns a word for the only writer.
    #[inline(always)]
    pub fn word(&self, word: usize) -> u64 {
        // Relaxed: as in `change`.
        self.words[word].load(Relaxed)
    }

    /// Copies all words. Other threads may change them meanwhile.
    pub fn copy(&self) -> [u64; WORDS] {
        let copy = std::array::from_fn(|word| self.words[word].load(Relaxed));
        after_copy();
        copy
    }
}

#[cfg(loom)]
impl<const WORDS: usize> Default for Locked<WORDS> {
    fn default() -> Self {
        Locked { words: std::array::from_fn(|_| AtomicU64::new(0)) }
    }
}

/// The words of a slot during a change.
#[derive(Debug)]
pub struct Changed<'s, const WORDS: usize>(&'s [AtomicU64; WORDS]);

impl<const WORDS: usize> Changed<'_, WORDS> {
    /// Returns a word.
    #[inline(always)]
    pub fn get(&self, word: usize) -> u64 {
        self.0[word].load(Relaxed)
    }

    /// Sets a word.
    #[inline(always)]
    pub fn set(&self, word: usize, value: u64) {
        self.0[word].store(value, Relaxed);
    }
}

/// Orders a copy before the next one. Copies by a system call need it, too.
pub fn after_copy() {
    // Acquire: partner of the writer's fence and of its last store.
    fence(Acquire);
}

/// Whether the words of the second of three copies belong together: no change overlapped that copy.
pub fn settled<const WORDS: usize>(before: &[u64; WORDS], after: &[u64; WORDS]) -> bool {
    before[0] == after[0] && before[0].is_multiple_of(2)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_change_within_a_change_is_refused() {
        let slot: Locked<3> = Locked { words: [0, 1, 2].map(AtomicU64::new) };
        let is_changed = slot.change(|words| {
            words.set(1, 7);
            assert!(!slot.change(|inner| inner.set(1, 9)), "the lock is odd");
            assert!(!settled(&slot.copy(), &slot.copy()));
        });
        assert!(is_changed);
        assert_eq!(slot.copy(), [2, 7, 2]);
        assert!(settled(&slot.copy(), &slot.copy()));
        assert!(!settled(&[2, 0, 0], &[4, 0, 0]), "a change has overlapped the copies");
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
            let slot = Arc::new(Locked::<3>::default());
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
                let lock = [slot.words[0].load(Relaxed)];
                after_copy();
                lock
            };
            let before = lock();
            let second = slot.words[2].load(Relaxed);
            let first = slot.words[1].load(Relaxed);
            after_copy();
            let after = lock();
            if settled(&before, &after) {
                assert_eq!((first, second), (before[0] / 2, before[0] / 2));
            }
            writer.join().unwrap();
            assert_eq!(slot.copy(), [4, 2, 2]);
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
                assert_eq!(words[1], before[0] / 2);
            }
            writer.join().unwrap();
        });
    }
}
