//! A timer for tasks, on any executor.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use super::maintenance;

/// Waits for `time` or a little longer; not at all if the system gives no maintenance thread.
pub(crate) fn nap(time: Duration) -> Nap {
    Nap { until: Instant::now() + time, waker: None }
}

/// The future of [`nap`].
#[must_use = "no time passes until it is polled"]
pub(crate) struct Nap {
    until: Instant,
    /// The waker that the maintenance thread has.
    waker: Option<Waker>,
}

impl Future for Nap {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let until = self.until;
        if Instant::now() >= until {
            return Poll::Ready(());
        }
        if !self.waker.as_ref().is_some_and(|waker| waker.will_wake(cx.waker())) {
            let waker = cx.waker().clone();
            self.waker = Some(waker.clone());
            let ring = move || match until.checked_duration_since(Instant::now()) {
                Some(rest) if !rest.is_zero() => Some(rest),
                _ => {
                    waker.wake_by_ref();
                    None
                }
            };
            if maintenance::give(ring).is_err() {
                return Poll::Ready(());
            }
        }
        Poll::Pending
    }
}
