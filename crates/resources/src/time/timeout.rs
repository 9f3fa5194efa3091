//! Timeouts.

use std::fmt;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::time::error::Elapsed;
use tokio::time::{Duration, Instant};

use dyntrace_processes::waiting::{Limit, Timer, Waiting};

pin_project_lite::pin_project! {
    /// The future of [`timeout`] and [`timeout_at`].
    #[must_use = "futures do nothing unless you `.await` or poll them"]
    pub struct Timeout<T> {
        #[pin]
        waiting: Waiting<tokio::time::Timeout<T>, Limit>,
    }
}

/// Awaits a future for this time at most.
///
/// If the future tells its waits itself, tracers see both waits. The table of tasks, which has one wait for each task, has the future's while
/// it lasts, else that for the timer.
///
/// # Errors
///
/// The time is over. The future is dropped with this one.
///
/// # Panics
///
/// Panics outside of a tokio runtime with timers.
#[track_caller]
pub fn timeout<F: IntoFuture>(duration: Duration, future: F) -> Timeout<F::IntoFuture> {
    of(tokio::time::timeout(duration, future))
}

/// Awaits a future until this instant at most.
///
/// # Errors
///
/// The time is over. The future is dropped with this one.
///
/// # Panics
///
/// Panics outside of a tokio runtime with timers.
#[track_caller]
pub fn timeout_at<F: IntoFuture>(deadline: Instant, future: F) -> Timeout<F::IntoFuture> {
    of(tokio::time::timeout_at(deadline, future))
}

#[track_caller]
fn of<T>(timeout: tokio::time::Timeout<T>) -> Timeout<T> {
    Timeout { waiting: Waiting::new(Limit(Timer("time::timeout")), Location::caller(), timeout) }
}

impl<T> Timeout<T> {
    /// The future.
    pub fn get_ref(&self) -> &T {
        self.waiting.get_ref().get_ref()
    }

    /// The future.
    pub fn get_mut(&mut self) -> &mut T {
        self.waiting.get_mut().get_mut()
    }

    /// Returns the future, which has no timeout any more.
    pub fn into_inner(self) -> T {
        self.waiting.into_inner().into_inner()
    }
}

impl<T: Future> Future for Timeout<T> {
    type Output = Result<T::Output, Elapsed>;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.project().waiting.poll(cx)
    }
}

impl<T: fmt::Debug> fmt::Debug for Timeout<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.waiting.fmt(f)
    }
}
