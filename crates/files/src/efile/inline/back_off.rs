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
//! - **on probation**: after a pause, for as long as the pause lasted, or after a slow attempt. Operations are attempted. The first quick
//!   answer after this time opens the word, and the level is forgotten. Without one the probation goes on: where operations are rare, each
//!   may be slow.
//!
//! # Steps
//!
//! 1. Before an attempt the driver asks [`allows`](BackOff::allows): one load, and a reading of the clock unless the word is open. On
//!    probation it also counts the [sleeps](super::sleeps) of the thread, before and after.
//! 2. It measures the attempt.
//! 3. After a quick answer [`note`](BackOff::note) writes nothing to an open word, unless an attempt before it raised doubts. So threads that
//!    only hit share the word's cache line without moving it.
//! 4. An attempt that took [`SLOW`] or longer, hit or miss, puts an open word on probation for half a millisecond, and begins a probation
//!    again whose time had passed.
//! 5. On probation, an attempt that took so long and slept pauses the word: the file system had it wait. So do two in a row without a
//!    sleep: the kernel worked that long.
//! 6. [`ENOUGH`] misses in a row pause the word, too: a file set larger than the cache pays for eight missed attempts a second.
//!
//! A pause takes 1 ms, and twice the last pause if the attempt began on its probation, up to 1 s. An attempt that
//! began before the end of the last pause changes nothing. A quick answer ends a row of misses or slow attempts.
//!
//! # Why one slow attempt is not enough
//!
//! The scheduler may have taken the processor from the thread, or the host from a virtual machine. The guest has no clock that shows this:
//! on a shared host a thread that asks the system for nothing loses 50 us to 1 ms dozens of times a second, which the guest counts as its
//! CPU time. But that hardly happens twice in a row. If each such attempt paused the word, tasks would sleep for the pool, threads would
//! take the processor from each other, more attempts would take long, and the pauses would grow: at 16 reads in flight that was measured to
//! cost up to five times the CPU time.
//!
//! # Why 50 us
//!
//! The copy of the most bytes that an attempt reads, 64 KiB, takes 5 to 25 us, page faults of a new buffer included. The answer of a disk
//! takes 60 us or more, and a trip through the pool up to 50 us. So an answer that took 50 us was no copy alone, and the pool would not have
//! been slower. A task's [turn](super::turn) is at most as long: it and its last attempt stay below 100 us.
//!
//! # No lock
//!
//! All accesses are relaxed: the word publishes nothing but itself. A thread that sees an old word makes one attempt more, or one less. Of
//! two threads that change the word at once, one may lose its change: a pause that starts one miss late, or two pauses at one level. A fork
//! copies the words as they are.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// An attempt that takes this long raises doubts, even if it hits.
pub(super) const SLOW: Duration = Duration::from_micros(50);
/// This number of doubts in a row pauses further attempts.
pub(super) const ENOUGH: u64 = 8;
/// The pauses at this level, of about a second, get no longer.
const TOP_LEVEL: u64 = 11;

/// The state of one command on one file system. Bits 0 to 2: doubts in a row. Bit 3: whether an attempt that slept began the last pause.
/// Bits 4 to 7: the level, 0 until the first pause. Above: the end of the last pause, or the beginning of a probation without one, in
/// microseconds of the monotonic clock; 0 while it is open.
#[derive(Debug)]
pub(in crate::efile) struct BackOff(AtomicU64);

/// The word while it is open, without doubts.
const OPEN: u64 = 0;

/// The outcome of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Hit,
    Miss,
    /// It took [`SLOW`] or longer. The thread did not sleep, as far as is known.
    Late,
    /// It took [`SLOW`] or longer, and the thread slept.
    Slept,
}

impl Outcome {
    fn doubts(self) -> u64 {
        match self {
            Outcome::Hit => 0,
            Outcome::Miss => 1,
            Outcome::Late => ENOUGH / 2,
            Outcome::Slept => ENOUGH,
        }
    }
}

#[derive(Clone, Copy)]
struct Word {
    until: u64,
    level: u64,
    has_slept: bool,
    doubts: u64,
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

    /// Returns whether an attempt that slept began the last pause, which is not forgotten.
    #[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "on systems without attempts, no job tries opens"))]
    #[inline]
    pub(super) fn has_slept(&self) -> bool {
        Word::from(self.0.load(Ordering::Relaxed)).has_slept
    }

    /// Returns whether to find out if an attempt sleeps.
    #[inline]
    pub(super) fn asks_for_sleeps(&self) -> bool {
        self.0.load(Ordering::Relaxed) != OPEN
    }

    /// Notes an attempt.
    #[inline]
    pub(super) fn note(&self, outcome: Outcome, began: Duration, ended: Duration) {
        let seen = self.0.load(Ordering::Relaxed);
        if outcome == Outcome::Hit && seen == OPEN {
            return;
        }
        if let Some(next) = Word::from(seen).after(outcome, microseconds(began), microseconds(ended)) {
            // If another thread changed it meanwhile, that change stays.
            let _ = self.0.compare_exchange(seen, next.into(), Ordering::Relaxed, Ordering::Relaxed);
        }
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
    /// Returns the word after an attempt, if it changes.
    fn after(self, outcome: Outcome, began: u64, ended: u64) -> Option<Word> {
        if began < self.until {
            return None;
        }
        let is_on_probation = self.until != 0 && began < self.until + length(self.level);
        let doubts = self.doubts + outcome.doubts();
        match outcome {
            Outcome::Hit if !is_on_probation => Some(Word::from(OPEN)),
            Outcome::Hit => (self.doubts != 0).then_some(Word { doubts: 0, ..self }),
            Outcome::Late if !is_on_probation && doubts < ENOUGH => Some(Word { until: ended, doubts, ..self }),
            _ if doubts < ENOUGH => Some(Word { doubts, ..self }),
            _ => {
                let level = (self.level + 1).min(TOP_LEVEL);
                let has_slept = outcome == Outcome::Slept;
                Some(Word { until: ended + length(level), level, has_slept, doubts: 0 })
            }
        }
    }
}

/// The length of a pause and of the probation after it, in microseconds: at level 1 a millisecond.
fn length(level: u64) -> u64 {
    1 << (9 + level)
}

/// Never 0, which stands for no pause.
pub(super) fn microseconds(time: Duration) -> u64 {
    // 56 bits hold two thousand years.
    (time.as_micros() as u64).max(1)
}

impl From<u64> for Word {
    fn from(word: u64) -> Word {
        Word { until: word >> 8, level: word >> 4 & 15, has_slept: word & 8 != 0, doubts: word & 7 }
    }
}

impl From<Word> for u64 {
    fn from(Word { until, level, has_slept, doubts }: Word) -> u64 {
        until << 8 | level << 4 | u64::from(has_slept) << 3 | doubts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: Duration = Duration::from_secs(1_000_000);

    fn at(milliseconds: u64) -> Duration {
        START + Duration::from_millis(milliseconds)
    }

    /// Notes an attempt at this time, to which it adds nothing.
    fn note(back_off: &BackOff, outcome: Outcome, milliseconds: u64) {
        back_off.note(outcome, at(milliseconds), at(milliseconds));
    }

    fn allows(back_off: &BackOff, milliseconds: u64) -> bool {
        back_off.allows(|| at(milliseconds))
    }

    #[test]
    fn without_a_pause_nobody_asks_for_the_time() {
        let back_off = BackOff::new();
        note(&back_off, Outcome::Hit, 0);
        assert!(back_off.allows(|| panic!("the state is open")));
    }

    #[test]
    fn one_answer_after_a_sleep_pauses_and_further_ones_pause_longer() {
        let back_off = BackOff::new();
        let (mut now, mut lengths) = (0, Vec::new());
        for _ in 0..14 {
            note(&back_off, Outcome::Slept, now);
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
        note(&back_off, Outcome::Slept, 0);
        note(&back_off, Outcome::Slept, 2);
        assert!(!allows(&back_off, 4));
        // The second pause ended shortly after 4, and its probation shortly after 6.
        note(&back_off, Outcome::Hit, 7);
        note(&back_off, Outcome::Slept, 8);
        assert!(!allows(&back_off, 9));
        assert!(allows(&back_off, 10), "it is the first pause again");
    }

    #[test]
    fn only_a_sleep_has_the_next_one_tried_elsewhere_until_it_is_forgotten() {
        let back_off = BackOff::new();
        (0..ENOUGH).for_each(|_| note(&back_off, Outcome::Miss, 0));
        assert!(back_off.level() == 1 && !back_off.has_slept());
        note(&back_off, Outcome::Slept, 2);
        assert!(back_off.has_slept());
        note(&back_off, Outcome::Hit, 5);
        assert!(back_off.has_slept(), "on probation");
        note(&back_off, Outcome::Hit, 10);
        assert!(!back_off.has_slept());
    }

    #[test]
    fn after_the_probation_nobody_asks_for_the_time() {
        let back_off = BackOff::new();
        note(&back_off, Outcome::Slept, 0);
        note(&back_off, Outcome::Hit, 2);
        assert_eq!(back_off.level(), 1, "the probation lasts until shortly after 2");
        note(&back_off, Outcome::Hit, 3);
        assert!(back_off.allows(|| panic!("the state is open")));
    }

    #[test]
    fn attempts_under_way_do_not_lengthen_a_pause() {
        let back_off = BackOff::new();
        for _ in 0..5 {
            note(&back_off, Outcome::Slept, 0);
        }
        assert!(!allows(&back_off, 1));
        assert!(allows(&back_off, 2));
    }

    #[test]
    fn only_misses_in_a_row_pause() {
        let back_off = BackOff::new();
        for _ in 0..10 {
            (1..ENOUGH).for_each(|_| note(&back_off, Outcome::Miss, 0));
            note(&back_off, Outcome::Hit, 0);
        }
        assert!(back_off.allows(|| panic!("no eight misses came in a row")));
        (0..ENOUGH).for_each(|_| note(&back_off, Outcome::Miss, 0));
        assert!(!allows(&back_off, 1));
        assert!(allows(&back_off, 2));
    }

    #[test]
    fn a_late_answer_alone_does_not_pause() {
        let back_off = BackOff::new();
        for milliseconds in 0..10 {
            note(&back_off, Outcome::Late, milliseconds);
            note(&back_off, Outcome::Hit, milliseconds);
            assert!(allows(&back_off, milliseconds) && back_off.asks_for_sleeps());
        }
        note(&back_off, Outcome::Hit, 10);
        assert!(back_off.allows(|| panic!("no two came in a row")) && !back_off.asks_for_sleeps());
    }

    #[test]
    fn a_row_of_misses_goes_on_over_a_late_one() {
        let back_off = BackOff::new();
        note(&back_off, Outcome::Late, 0);
        (0..ENOUGH / 2).for_each(|_| note(&back_off, Outcome::Miss, 10));
        assert!(!allows(&back_off, 11));
    }

    #[test]
    fn pauses_grow_where_rare_attempts_are_all_slow() {
        let back_off = BackOff::new();
        for second in 1..=4 {
            note(&back_off, Outcome::Slept, 1000 * second);
            assert_eq!(back_off.level(), second);
        }
        note(&back_off, Outcome::Hit, 5000);
        assert!(back_off.allows(|| panic!("a quick one after the probation opens it")));
    }

    #[test]
    fn two_late_answers_in_a_row_pause() {
        let back_off = BackOff::new();
        note(&back_off, Outcome::Late, 0);
        note(&back_off, Outcome::Late, 0);
        assert!(!allows(&back_off, 1));
        assert!(allows(&back_off, 2));
    }

    #[test]
    fn pauses_grow_where_attempts_outlast_them() {
        let back_off = BackOff::new();
        let mut now = 0;
        for _ in 0..4 {
            back_off.note(Outcome::Slept, at(now), at(now + 10));
            now += 10;
            while !allows(&back_off, now) {
                now += 1;
            }
        }
        assert_eq!(back_off.level(), 4);
    }

    #[test]
    fn threads_at_once_leave_a_word_that_ends() {
        let back_off = BackOff::new();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for step in 0..1000 {
                        let outcome = [Outcome::Hit, Outcome::Miss, Outcome::Late, Outcome::Slept][step as usize % 4];
                        note(&back_off, outcome, step);
                        allows(&back_off, step);
                    }
                });
            }
        });
        assert!(allows(&back_off, 1000 + 1049), "no pause is longer than the longest");
    }
}
