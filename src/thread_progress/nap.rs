//! A pause between two looks of a task at what others do, on any executor.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use super::maintenance;

/// Over after so long or soon after that; at once where no thread can be had to tell when.
pub(crate) fn nap(time: Duration) -> Nap {
    Nap { until: Instant::now() + time, told: None }
}

/// See [`nap`].
#[must_use = "no time passes until it is polled"]
pub(crate) struct Nap {
    until: Instant,
    /// Whom the maintenance thread wakes.
    told: Option<Waker>,
}

impl Future for Nap {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let until = self.until;
        if Instant::now() >= until {
            return Poll::Ready(());
        }
        if !self.told.as_ref().is_some_and(|told| told.will_wake(cx.waker())) {
            let waker = cx.waker().clone();
            self.told = Some(waker.clone());
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
