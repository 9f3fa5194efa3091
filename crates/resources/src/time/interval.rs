//! Intervals.

use std::fmt;
use std::panic::Location;
use std::task::{Context, Poll};

use tokio::time::{Duration, Instant, MissedTickBehavior};

use dyntrace_processes::waiting::{Timer, Waiting};

/// A clock that ticks, made by [`interval`] and [`interval_at`].
pub struct Interval {
    inner: tokio::time::Interval,
}

/// Creates an interval. The first tick is at once.
///
/// # Panics
///
/// Panics if the period is zero.
#[track_caller]
pub fn interval(period: Duration) -> Interval {
    Interval { inner: tokio::time::interval(period) }
}

/// Creates an interval whose first tick is at `start`.
///
/// # Panics
///
/// Panics if the period is zero.
#[track_caller]
pub fn interval_at(start: Instant, period: Duration) -> Interval {
    Interval { inner: tokio::time::interval_at(start, period) }
}

impl Interval {
    /// Waits for the next tick. Returns its instant.
    ///
    /// # Cancellation
    ///
    /// Dropping the future loses no tick.
    #[track_caller]
    pub fn tick(&mut self) -> impl Future<Output = Instant> {
        Waiting::new(Timer("time::Interval::tick"), Location::caller(), self.inner.tick())
    }

    /// [`tick`](Interval::tick), for futures written by hand. Fires no probes.
    pub fn poll_tick(&mut self, cx: &mut Context<'_>) -> Poll<Instant> {
        self.inner.poll_tick(cx)
    }

    /// Has the next tick come a period from now.
    pub fn reset(&mut self) {
        self.inner.reset();
    }

    /// Has the next tick come at once.
    pub fn reset_immediately(&mut self) {
        self.inner.reset_immediately();
    }

    /// Has the next tick come after this time.
    pub fn reset_after(&mut self, after: Duration) {
        self.inner.reset_after(after);
    }

    /// Has the next tick come at this instant.
    pub fn reset_at(&mut self, deadline: Instant) {
        self.inner.reset_at(deadline);
    }

    /// Returns the behavior after a missed tick.
    pub fn missed_tick_behavior(&self) -> MissedTickBehavior {
        self.inner.missed_tick_behavior()
    }

    /// Sets the behavior after a missed tick.
    pub fn set_missed_tick_behavior(&mut self, behavior: MissedTickBehavior) {
        self.inner.set_missed_tick_behavior(behavior);
    }

    /// Returns the time between two ticks.
    pub fn period(&self) -> Duration {
        self.inner.period()
    }
}

impl fmt::Debug for Interval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}
