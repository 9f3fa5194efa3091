//! Decides how long a receiver polls for the next message before it sleeps.
//!
//! Waking a thread takes microseconds, which is more than most answers take. So a receiver that finds its mailbox empty may poll
//! for the next message first. Its thread does nothing else meanwhile.
//!
//! That pays where the sender waits for an answer before it sends more. Of a sender that does not wait, a receiver that sleeps gets many
//! messages at once; if it polled, it would take each one by itself, and the channel's memory would go from processor to processor and
//! back for each.
//!
//! 1. After 16 sleeps the receiver asks where the next message comes from ([`Source::ask`]). The sender answers: from this thread or
//!    from another.
//! 2. If it came from another thread, the receiver makes a trial the next time: it polls for [`TRIAL`] at most. If it came from this
//!    thread, or if the trial fails, step 1 is due again after twice as many sleeps, up to 65,536.
//! 3. If the trial succeeds, the receiver polls each time, for [`READY`] at most, until that fails once. Each success halves the number
//!    of sleeps before the next step 1.
//! 4. If in step 3 the receiver finds more than [`FEW`] messages without polling, before it has polled [`PERIOD`] times, a sender does not
//!    wait: step 1 is due after 16 sleeps, and each time that this happens again after twice as many, up to 65,536.
//!
//! So failed trials are rare. While messages keep coming, the other tasks of the thread wait for [`READY`] at most for each, and
//! tokio runs them after 128 messages at the latest.

use std::hint;
use std::mem;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

/// The limit of a trial: longer than waking a thread that answers takes.
const TRIAL: Duration = Duration::from_micros(200);

/// The limit of polling once a trial has succeeded.
const READY: Duration = Duration::from_micros(3);

/// Sleeps before the first step 1.
const FIRST: u32 = 16;
/// The most sleeps before a step 1.
const LAST: u32 = 1 << 16;

/// The number of polls in a period. In each period the receiver counts again the messages that it receives without a sleep.
const PERIOD: u32 = 64;
/// The most of those messages in such a period.
const FEW: u32 = PERIOD / 4;

/// The question and its answer: 0, the address of [`HERE`] on the asking thread, or one of the constants below.
///
/// Relaxed throughout: a late or lost answer costs a trial, or delays one.
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

    /// Answers that a message was sent on this thread, if the receiver asks.
    #[inline]
    pub(super) fn answer(&self) {
        let asks = self.0.load(Relaxed);
        if asks > OTHER_THREAD {
            self.0.store(if asks == here() { SAME_THREAD } else { OTHER_THREAD }, Relaxed);
        }
    }
}

/// The state of one receiver.
pub(super) struct Patience {
    /// Sleeps until step 1.
    sleeps: u32,
    /// Sleeps until step 1 after the next failure, and after the next step 4.
    after_failure: Pause,
    after_stream: Pause,
    /// The last polling succeeded.
    is_ready: bool,
    /// In the present period of step 4.
    polled: u32,
    found: u32,
}

/// How many sleeps it takes until step 1.
struct Pause(u32);

impl Pause {
    /// Returns the number, and doubles it for the next time.
    fn take(&mut self) -> u32 {
        let sleeps = self.0;
        self.0 = (2 * sleeps).min(LAST);
        sleeps
    }
}

impl Patience {
    pub(super) fn new() -> Patience {
        Patience {
            sleeps: FIRST,
            after_failure: Pause(2 * FIRST),
            after_stream: Pause(FIRST),
            is_ready: false,
            polled: 0,
            found: 0,
        }
    }

    /// Counts a sleep.
    #[inline]
    pub(super) fn sleeps(&mut self) {
        self.sleeps = self.sleeps.saturating_sub(1);
    }

    /// Whether to call [`look`](Patience::look) with an empty mailbox, and [`finds`](Patience::finds) with messages.
    #[inline]
    pub(super) fn is_due(&self) -> bool {
        self.sleeps == 0
    }

    /// Step 4: counts a message that is there without polling.
    #[cold]
    pub(super) fn finds(&mut self) {
        if self.is_ready {
            self.found += 1;
            if self.found > FEW {
                self.is_ready = false;
                self.sleeps = self.after_stream.take();
            }
        }
    }

    /// With an empty mailbox: polls until `comes` returns true or the limit is reached, or asks whether to poll the next time.
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
        if !succeeds {
            self.is_ready = false;
            self.sleeps = self.after_failure.take();
            return;
        }
        self.after_failure.0 = (self.after_failure.0 / 2).max(1);
        if !mem::replace(&mut self.is_ready, true) {
            (self.polled, self.found) = (0, 0);
        }
        self.polled += 1;
        if self.polled == PERIOD {
            (self.polled, self.found) = (0, 0);
            self.after_stream = Pause(FIRST);
        }
    }
}

/// Whether `comes` returns true within the limit.
///
/// The thread does not yield its processor: where other programs want it, it would come back only after their time slices, milliseconds
/// later, while a thread that sleeps is woken at once.
fn within(limit: Duration, comes: impl Fn() -> bool) -> bool {
    let begun = Instant::now();
    loop {
        for _ in 0..32 {
            if comes() {
                return true;
            }
            hint::spin_loop();
        }
        if begun.elapsed() > limit {
            return false;
        }
    }
}

/// Whether a sender can run while this thread polls.
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

    #[test]
    fn a_receiver_of_a_stream_no_longer_polls() {
        if !is_worth_it() {
            return;
        }
        let (mut patience, source) = (Patience::new(), Source::default());
        let streams = |patience: &mut Patience| {
            patience.look(&source, || true);
            let found = (1..).find(|_| {
                patience.finds();
                !patience.is_due()
            });
            assert_eq!(found, Some(FEW + 1));
        };
        let mut pauses = vec![until_due(&mut patience, &source, true)];
        for _ in 0..14 {
            streams(&mut patience);
            pauses.push(until_due(&mut patience, &source, true));
        }
        assert_eq!(pauses[..4], [16, 16, 32, 64]);
        assert_eq!(pauses[13..], [65536; 2]);
        // The few of each period do not add up, and such a period ends the pauses.
        for _ in 0..4 * PERIOD {
            patience.look(&source, || true);
            if patience.polled % 4 == 1 {
                patience.finds();
            }
            assert!(patience.is_due());
        }
        streams(&mut patience);
        assert_eq!(until_due(&mut patience, &source, true), 16);
    }
}
