//! How long a receiver looks for the next message before it sleeps.
//!
//! Waking a thread takes microseconds, and more than most answers do. So a receiver that finds its mailbox empty may look for the next
//! message first, while its thread does nothing else:
//!
//! 1. After some sleeps it asks where the next message comes from ([`Source::ask`]). The sender answers: from this thread or from another.
//! 2. If from another, the receiver makes a trial the next time: it looks for [`TRIAL`] at most. If from this thread, or if the trial
//!    fails, step 1 is due again after twice as many sleeps: 16, 32, in the end 65,536.
//! 3. If the trial succeeds, it looks each time, for [`READY`] at most, until that fails once. Each success halves the number of sleeps
//!    until step 1 then.
//!
//! So a trial that fails is rare. While messages come at once, no other task of the thread waits longer for each than [`READY`], and
//! tokio gives them a turn after 128 messages at the latest.

use std::hint;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

/// How long a trial takes at most: longer than it takes to wake a thread that answers.
const TRIAL: Duration = Duration::from_micros(200);

/// How long a receiver looks whose last message came while it looked.
const READY: Duration = Duration::from_micros(3);

/// Sleeps before it asks for the first time.
const FIRST: u32 = 16;
/// The most sleeps before it asks.
const LAST: u32 = 1 << 16;

/// Where a message comes from, if the receiver asks: 0, the address of [`HERE`] on the thread that asks, or an answer.
///
/// Relaxed throughout: an answer that is late or lost costs a trial, or delays one.
#[derive(Debug, Default)]
pub(super) struct Source(AtomicUsize);

const SAME_THREAD: usize = 1;
const OTHER_THREAD: usize = 2;

thread_local! {
    /// Its address tells threads apart.
    static HERE: usize = const { 0 };
}

fn here() -> usize {
    HERE.with(|here| ptr::from_ref(here).addr())
}

impl Source {
    fn ask(&self) {
        self.0.store(here(), Relaxed);
    }

    /// A message is sent on this thread.
    #[inline]
    pub(super) fn answer(&self) {
        let asks = self.0.load(Relaxed);
        if asks > OTHER_THREAD {
            self.0.store(if asks == here() { SAME_THREAD } else { OTHER_THREAD }, Relaxed);
        }
    }
}

/// What a receiver has seen of its messages.
pub(super) struct Patience {
    /// Sleeps until it asks.
    sleeps: u32,
    /// Sleeps after the next failure.
    pause: u32,
    /// The last look succeeded.
    is_ready: bool,
}

impl Patience {
    pub(super) fn new() -> Patience {
        Patience { sleeps: FIRST, pause: 2 * FIRST, is_ready: false }
    }

    /// The receiver sleeps.
    #[inline]
    pub(super) fn sleeps(&mut self) {
        self.sleeps = self.sleeps.saturating_sub(1);
    }

    /// Whether the receiver may have to look, where there is no message now.
    #[inline]
    pub(super) fn is_due(&self) -> bool {
        self.sleeps == 0
    }

    /// Looks until `comes` or the time is over, or asks whether to look next time.
    #[cold]
    pub(super) fn look(&mut self, source: &Source, comes: impl Fn() -> bool) {
        let succeeds = if self.is_ready {
            within(READY, comes)
        } else {
            match source.0.load(Relaxed) {
                SAME_THREAD => false,
                OTHER_THREAD => is_worth_it() && within(TRIAL, comes),
                _ => return source.ask(),
            }
        };
        source.0.store(0, Relaxed);
        self.is_ready = succeeds;
        if succeeds {
            self.pause = (self.pause / 2).max(1);
        } else {
            self.sleeps = self.pause;
            self.pause = (2 * self.pause).min(LAST);
        }
    }
}

/// Whether it `comes` within the time.
fn within(limit: Duration, comes: impl Fn() -> bool) -> bool {
    let begun = Instant::now();
    loop {
        for _ in 0..32 {
            if comes() {
                return true;
            }
            hint::spin_loop();
        }
        // The sender may wait for this very processor.
        thread::yield_now();
        if begun.elapsed() > limit {
            return comes();
        }
    }
}

/// Whether a sender can run meanwhile.
fn is_worth_it() -> bool {
    static IS_WORTH_IT: OnceLock<bool> = OnceLock::new();
    !cfg!(loom) && *IS_WORTH_IT.get_or_init(|| thread::available_parallelism().is_ok_and(|count| count.get() > 1))
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    /// Sleeps until it looks, with messages of another thread or of this one: how many times.
    fn until_due(patience: &mut Patience, source: &Source, of_other: bool) -> u32 {
        let mut sleeps = 0;
        while !patience.is_due() {
            patience.sleeps();
            sleeps += 1;
        }
        if !patience.is_ready {
            patience.look(source, || unreachable!("it asks first"));
        }
        if of_other {
            thread::scope(|scope| scope.spawn(|| source.answer()).join()).unwrap();
        } else {
            source.answer();
        }
        sleeps
    }

    #[test]
    fn trials_that_fail_become_rare() {
        let (mut patience, source) = (Patience::new(), Source::default());
        let mut pauses = Vec::new();
        for _ in 0..15 {
            pauses.push(until_due(&mut patience, &source, true));
            patience.look(&source, || false);
        }
        assert_eq!(pauses[..4], [16, 32, 64, 128]);
        assert_eq!(pauses[12..], [65536; 3]);
    }

    #[test]
    fn a_receiver_looks_for_no_message_of_its_own_thread() {
        let (mut patience, source) = (Patience::new(), Source::default());
        for pause in [16, 32, 64] {
            assert_eq!(until_due(&mut patience, &source, false), pause);
            patience.look(&source, || unreachable!("nobody could send meanwhile"));
        }
    }

    #[test]
    fn a_receiver_that_is_answered_at_once_looks_each_time() {
        if !is_worth_it() {
            return;
        }
        let (mut patience, source) = (Patience::new(), Source::default());
        until_due(&mut patience, &source, true);
        let looks = Cell::new(0);
        let third = || looks.replace(looks.get() + 1) == 2;
        for _ in 0..100 {
            looks.set(0);
            patience.look(&source, third);
            assert!(patience.is_due() && patience.is_ready);
        }
        patience.look(&source, || false);
        assert_eq!(until_due(&mut patience, &source, true), 1);
    }
}
