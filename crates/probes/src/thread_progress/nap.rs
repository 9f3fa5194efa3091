//! A timer for tasks, on any executor.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use super::maintenance;
use super::prepare::forks;

/// Waits for `time` or a little longer. If the system gives no maintenance thread, the task wakes itself until the time has passed.
pub fn nap(time: Duration) -> Nap {
    Nap { until: Instant::now() + time, given: None }
}

/// The future of [`nap`].
#[must_use = "no time passes until it is polled"]
pub struct Nap {
    until: Instant,
    /// The waker that the maintenance thread has, and the number of forks when it got that: a child has another thread.
    given: Option<(Waker, u64)>,
}

impl Future for Nap {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let until = self.until;
        if Instant::now() >= until {
            return Poll::Ready(());
        }
        let forks = forks();
        if !self.given.as_ref().is_some_and(|(waker, before)| *before == forks && waker.will_wake(cx.waker())) {
            let waker = cx.waker().clone();
            let ring = move || match until.checked_duration_since(Instant::now()) {
                Some(rest) if !rest.is_zero() => Some(rest),
                _ => {
                    waker.wake_by_ref();
                    None
                }
            };
            self.given = maintenance::give(ring).is_ok().then(|| (cx.waker().clone(), forks));
            if self.given.is_none() {
                cx.waker().wake_by_ref();
            }
        }
        Poll::Pending
    }
}
