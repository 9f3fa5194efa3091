//! Back-off: when attempts of one command on one file system pause, and for how long.
//!
//! The system calls of an attempt do not wait for data. They can still be slow: a read that misses submits the disk's read-ahead, whose
//! queue may be full; memory may have to be reclaimed for the pages of a buffer; a lock of the kernel may be held. The system does not
//! announce these cases, so the driver learns them from the time that each attempt took.
//!
//! # States
//!
//! One word for each file system and command is in one of three states:
//!
//! - **open**: operations are attempted.
//! - **paused** until an instant, at a level: operations go to the pool without an attempt.
//! - **on probation**: after a pause, for as long as the pause lasted. Operations are attempted. If this time passes without another
//!   pause, the level is forgotten: the state is open again, and the next quick answer writes that down.
//!
//! # Steps
//!
//! 1. Before an attempt the driver asks [`allows`](BackOff::allows): one load, and a reading of the clock unless the word is open.
//! 2. It measures the attempt.
//! 3. After a quick answer [`note`](BackOff::note) writes nothing to an open word, unless attempts before it missed. So threads that only hit
//!    share the word's cache line without moving it.
//! 4. An answer that took [`SLOW`] or longer, hit or miss, pauses the word: for 1 ms, and on probation for twice the last pause, up to 1 s.
//!    It does not if the scheduler took the processor from the thread, and the thread never slept: then the file system was not slow.
//! 5. So do [`MISSES`] misses in a row: a file set larger than the cache pays for eight attempts in vain a second.
//!
//! # Why 50 us
//!
//! The copy of the most bytes that an attempt reads, 64 KiB, takes 5 to 25 us, page faults of a new buffer included. The answer of a disk
//! takes 60 us or more, and a trip through the pool up to 50 us. So an answer that took 50 us was no copy alone, and the pool would not have
//! been slower. A task's [turn](super::turn) is as long: it and its last attempt stay below 100 us.
//!
//! # No lock
//!
//! All accesses are relaxed: the word publishes nothing but itself. A thread that sees an old word makes one attempt more, or one less. Of
//! two threads that change the word at once, one may lose its change: a pause that starts one miss late, or two pauses at one level. A fork
//! copies the words as they are.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// An attempt that takes this long pauses further ones.
pub(super) const SLOW: Duration = Duration::from_micros(50);
/// So many misses in a row pause further attempts.
pub(super) const MISSES: u64 = 8;
/// The length of a pause at level 1, in microseconds. Each level doubles it.
const FIRST_PAUSE: u64 = 1 << 10;
/// The pauses at this level, of about a second, get no longer.
const TOP_LEVEL: u64 = 11;

/// The state of one command on one file system. Bits 0 to 3: misses in a row. Bits 4 to 7: the level, 0 until the first pause. Above: the end
/// of the last pause, in microseconds of the monotonic clock.
#[derive(Debug)]
pub(in crate::efile) struct BackOff(AtomicU64);

/// The outcome of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Hit,
    Miss,
    /// It took [`SLOW`] or longer.
    Slow,
}

#[derive(Clone, Copy)]
struct Word {
    until: u64,
    level: u64,
    misses: u64,
}

impl BackOff {
    pub(in crate::efile) const fn new() -> BackOff {
        BackOff(AtomicU64::new(0))
    }

    /// Returns whether to attempt an operation. `now` is only called if attempts have paused lately.
    #[inline]
    pub(in crate::efile) fn allows(&self, now: impl FnOnce() -> Duration) -> bool {
        match Word::from(self.0.load(Ordering::Relaxed)).until {
            0 => true,
            until => microseconds(now()) >= until,
        }
    }

    /// Notes an attempt that ended at `now`.
    #[inline]
    pub(super) fn note(&self, outcome: Outcome, now: Duration) {
        let seen = self.0.load(Ordering::Relaxed);
        let word = Word::from(seen);
        let next = match outcome {
            Outcome::Hit if word.is_forgiven(now) => Word::OPEN,
            Outcome::Hit if word.misses == 0 => return,
            Outcome::Hit => Word { misses: 0, ..word },
            Outcome::Miss if word.misses + 1 < MISSES => Word { misses: word.misses + 1, ..word },
            Outcome::Miss | Outcome::Slow => match word.paused(microseconds(now)) {
                Some(next) => next,
                None => return,
            },
        };
        // If another thread changed it meanwhile, that change stays.
        let _ = self.0.compare_exchange(seen, next.into(), Ordering::Relaxed, Ordering::Relaxed);
    }
}

#[cfg(test)]
impl BackOff {
    pub(in crate::efile) fn level(&self) -> u64 {
        Word::from(self.0.load(Ordering::Relaxed)).level
    }

    pub(in crate::efile) fn pause_for_ever(&self) {
        self.0.store(u64::MAX, Ordering::Relaxed);
    }
}

impl Word {
    const OPEN: Word = Word { until: 0, level: 0, misses: 0 };

    /// Returns whether the word was paused, and its probation is over.
    fn is_forgiven(self, now: Duration) -> bool {
        self.until != 0 && !self.is_on_probation(microseconds(now))
    }

    /// Returns whether the last pause began so lately that another one would be longer.
    fn is_on_probation(self, now: u64) -> bool {
        self.level > 0 && now < self.until + length(self.level)
    }

    /// Returns the word with a pause that begins now, or `None` if another thread has paused it.
    fn paused(self, now: u64) -> Option<Word> {
        if now < self.until {
            return None;
        }
        let level = if self.is_on_probation(now) { (self.level + 1).min(TOP_LEVEL) } else { 1 };
        Some(Word { until: now + length(level), level, misses: 0 })
    }
}

/// The length of a pause, in microseconds.
fn length(level: u64) -> u64 {
    FIRST_PAUSE << (level - 1)
}

/// Never 0, which stands for no pause.
pub(super) fn microseconds(time: Duration) -> u64 {
    // 56 bits hold two thousand years.
    (time.as_micros() as u64).max(1)
}

impl From<u64> for Word {
    fn from(word: u64) -> Word {
        Word { until: word >> 8, level: word >> 4 & 15, misses: word & 15 }
    }
}

impl From<Word> for u64 {
    fn from(Word { until, level, misses }: Word) -> u64 {
        until << 8 | level << 4 | misses
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: Duration = Duration::from_secs(1_000_000);

    fn at(milliseconds: u64) -> Duration {
        START + Duration::from_millis(milliseconds)
    }

    fn allows(back_off: &BackOff, milliseconds: u64) -> bool {
        back_off.allows(|| at(milliseconds))
    }

    #[test]
    fn without_a_pause_nobody_asks_for_the_time() {
        let back_off = BackOff::new();
        back_off.note(Outcome::Hit, at(0));
        assert!(back_off.allows(|| panic!("the state is open")));
    }

    #[test]
    fn one_slow_answer_pauses_and_further_ones_pause_longer() {
        let back_off = BackOff::new();
        let (mut now, mut lengths) = (0, Vec::new());
        for _ in 0..14 {
            back_off.note(Outcome::Slow, at(now));
            let begin = now;
            while !allows(&back_off, now) {
                now += 1;
            }
            // Rounded up to whole milliseconds.
            lengths.push(now - begin);
        }
        assert_eq!(lengths, [2, 3, 5, 9, 17, 33, 66, 132, 263, 525, 1049, 1049, 1049, 1049]);
    }

    #[test]
    fn a_good_time_as_long_as_the_pause_is_forgiven() {
        let back_off = BackOff::new();
        back_off.note(Outcome::Slow, at(0));
        back_off.note(Outcome::Slow, at(2));
        assert!(!allows(&back_off, 4));
        // The second pause ended shortly after 4, and its probation shortly after 6.
        back_off.note(Outcome::Hit, at(5));
        back_off.note(Outcome::Slow, at(7));
        assert!(!allows(&back_off, 8));
        assert!(allows(&back_off, 9), "it is the first pause again");
    }

    #[test]
    fn after_the_probation_nobody_asks_for_the_time() {
        let back_off = BackOff::new();
        back_off.note(Outcome::Slow, at(0));
        back_off.note(Outcome::Hit, at(2));
        assert_eq!(back_off.level(), 1, "the probation lasts until shortly after 2");
        back_off.note(Outcome::Hit, at(3));
        assert!(back_off.allows(|| panic!("the state is open")));
    }

    #[test]
    fn attempts_under_way_do_not_lengthen_a_pause() {
        let back_off = BackOff::new();
        for _ in 0..5 {
            back_off.note(Outcome::Slow, at(0));
        }
        assert!(!allows(&back_off, 1));
        assert!(allows(&back_off, 2));
    }

    #[test]
    fn only_misses_in_a_row_pause() {
        let back_off = BackOff::new();
        for _ in 0..10 {
            (1..MISSES).for_each(|_| back_off.note(Outcome::Miss, at(0)));
            back_off.note(Outcome::Hit, at(0));
        }
        assert!(back_off.allows(|| panic!("no eight misses came in a row")));
        (0..MISSES).for_each(|_| back_off.note(Outcome::Miss, at(0)));
        assert!(!allows(&back_off, 1));
        assert!(allows(&back_off, 2));
    }

    #[test]
    fn threads_at_once_leave_a_word_that_ends() {
        let back_off = BackOff::new();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for step in 0..1000 {
                        let outcome = [Outcome::Hit, Outcome::Miss, Outcome::Slow][step as usize % 3];
                        back_off.note(outcome, at(step));
                        allows(&back_off, step);
                    }
                });
            }
        });
        assert!(allows(&back_off, 1000 + 1049), "no pause is longer than the longest");
    }
}
