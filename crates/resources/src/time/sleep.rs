//! Sleeps.

use std::fmt;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::time::{Duration, Instant};

use dyntrace_processes::waiting::{Timer, Waiting};

pin_project_lite::pin_project! {
    /// The future of [`sleep`] and [`sleep_until`].
    #[must_use = "futures do nothing unless you `.await` or poll them"]
    pub struct Sleep {
        #[pin]
        waiting: Waiting<tokio::time::Sleep, Timer>,
    }
}

/// Waits for this time. With tokio's precision: a millisecond.
///
/// # Panics
///
/// Panics outside of a tokio runtime with timers.
#[track_caller]
pub fn sleep(duration: Duration) -> Sleep {
    of(tokio::time::sleep(duration))
}

/// Waits until this instant. With tokio's precision: a millisecond.
///
/// # Panics
///
/// Panics outside of a tokio runtime with timers.
#[track_caller]
pub fn sleep_until(deadline: Instant) -> Sleep {
    of(tokio::time::sleep_until(deadline))
}

#[track_caller]
fn of(sleep: tokio::time::Sleep) -> Sleep {
    Sleep { waiting: Waiting::new(Timer("time::sleep"), Location::caller(), sleep) }
}

impl Sleep {
    /// Returns the instant at which it is ready.
    pub fn deadline(&self) -> Instant {
        self.waiting.get_ref().deadline()
    }

    /// Whether it is ready.
    pub fn is_elapsed(&self) -> bool {
        self.waiting.get_ref().is_elapsed()
    }

    /// Sets the instant at which it is ready.
    pub fn reset(self: Pin<&mut Self>, deadline: Instant) {
        self.project().waiting.inner().reset(deadline);
    }
}

impl Future for Sleep {
    type Output = ();

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.project().waiting.poll(cx)
    }
}

impl fmt::Debug for Sleep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.waiting.fmt(f)
    }
}
