//! Intervals.

use std::panic::Location;
use std::task::{Context, Poll};

use tokio::time::{Duration, Instant, MissedTickBehavior};

use crate::inner::{debug, forward};
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

    forward! { inner:
        /// [`tick`](Interval::tick), for futures written by hand. Fires no probes.
        fn poll_tick(&mut self, cx: &mut Context<'_>) -> Poll<Instant>;
        /// Has the next tick come a period from now.
        fn reset(&mut self);
        /// Has the next tick come at once.
        fn reset_immediately(&mut self);
        /// Has the next tick come after this time.
        fn reset_after(&mut self, after: Duration);
        /// Has the next tick come at this instant.
        fn reset_at(&mut self, deadline: Instant);
        /// Returns the behavior after a missed tick.
        fn missed_tick_behavior(&self) -> MissedTickBehavior;
        /// Sets the behavior after a missed tick.
        fn set_missed_tick_behavior(&mut self, behavior: MissedTickBehavior);
        /// Returns the time between two ticks.
        fn period(&self) -> Duration;
    }
}

debug! { [] Interval; }
