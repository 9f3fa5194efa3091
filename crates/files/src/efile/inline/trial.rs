//! A trial: one attempt under the rules of its mode.
//!
//! # Steps
//!
//! 1. Before the operation is entered, a [`Permit`] says whether to attempt it: by the switch and, in adaptive mode, by the back-off of its
//!    command on the file system of the open file. A path's file system is not known yet.
//! 2. The attempt runs with a [`Trial`]. When a look-up by path has found the file system, [`Trial::on`] asks its back-off: if that has paused
//!    the command, the attempt ends as a miss. A look-up alone never waits, so it is always made.
//! 3. [`Trial::end`] measures how long the attempt took and, if the back-off asks, whether the thread slept. In adaptive mode it adds the time
//!    to the thread's [turn](super::turn), and notes the outcome in the back-off.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

use super::attempt::{Attempt, Miss};
use super::back_off::{BackOff, Outcome, SLOW};
use super::mode::Inline;
use super::sleeps;
use super::turn::{is_over, spend};

/// A leave to attempt an operation.
#[derive(Clone, Copy)]
pub(crate) struct Permit {
    mode: Inline,
    back_off: Option<&'static BackOff>,
}

/// An attempt that has begun.
pub(crate) struct Trial {
    permit: Permit,
    /// How often the thread had slept before, if the back-off asks.
    sleeps: Option<u64>,
    began: Duration,
}

impl Permit {
    /// Returns the permit for an operation by path, whose file system the attempt finds out.
    pub(in crate::efile) fn of_path(mode: Inline) -> Option<Permit> {
        mode.is_on().then_some(Permit { mode, back_off: None })
    }

    /// Returns the permit for an operation on an open file.
    pub(in crate::efile) fn on(mode: Inline, back_off: Option<&'static BackOff>) -> Option<Permit> {
        let permit = Permit { mode, back_off };
        match mode {
            Inline::Off => None,
            Inline::Always => Some(permit),
            // Without a back-off, nothing would be learned.
            Inline::Adaptive => back_off?.allows(now).then_some(permit),
        }
    }

    /// Returns whether the task must yield before the attempt, because the thread's turn is over.
    pub(crate) fn must_yield(self) -> bool {
        self.mode == Inline::Adaptive && is_over()
    }

    /// Returns how often the thread has slept so far, if the back-off asks for it.
    #[inline]
    fn sleeps(self) -> Option<u64> {
        let back_off = self.back_off.filter(|_| self.mode == Inline::Adaptive)?;
        back_off.asks_for_sleeps().then(sleeps::of_this_thread)
    }

    #[inline]
    pub(in crate::efile) fn begin(self) -> Trial {
        Trial { permit: self, sleeps: self.sleeps(), began: now() }
    }
}

impl Trial {
    /// Names the back-off of the file system that a look-up found. An error ends the attempt.
    #[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "on systems without attempts, all are refused"))]
    pub(in crate::efile) fn on(&mut self, back_off: &'static BackOff) -> Attempt<()> {
        if self.is_adaptive() && !back_off.allows(now) {
            return Err(Miss::NotCached);
        }
        self.permit.back_off = Some(back_off);
        self.sleeps = self.permit.sleeps();
        Ok(())
    }

    pub(super) fn is_adaptive(&self) -> bool {
        self.permit.mode == Inline::Adaptive
    }

    /// When it began, on the monotonic clock.
    pub(super) fn began(&self) -> Duration {
        self.began
    }

    /// Ends the trial, and returns how long it took.
    #[inline]
    pub(in crate::efile) fn end<T>(self, attempt: &Attempt<T>) -> Duration {
        let now = now();
        let took = now.saturating_sub(self.began);
        if self.is_adaptive() {
            spend(took);
            if let Some(back_off) = self.permit.back_off {
                back_off.note(outcome(took, self.sleeps, attempt), self.began, now);
            }
        }
        took
    }
}

#[inline]
fn outcome<T>(took: Duration, sleeps: Option<u64>, attempt: &Attempt<T>) -> Outcome {
    if took >= SLOW {
        let has_slept = sleeps.is_some_and(|before| sleeps::of_this_thread() != before);
        return if has_slept { Outcome::Slept } else { Outcome::Late };
    }
    match attempt {
        Ok(_) | Err(Miss::Error(_)) => Outcome::Hit,
        Err(Miss::NotCached | Miss::Refused | Miss::Unknown { .. }) => Outcome::Miss,
    }
}

/// The monotonic clock.
#[inline]
pub(super) fn now() -> Duration {
    let now = clock_gettime(ClockId::Monotonic);
    Duration::new(now.tv_sec as u64, now.tv_nsec as u32)
}
