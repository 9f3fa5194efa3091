//! The futures that calls of asynchronous exports return.

use std::fmt;
use std::future::Future;
use std::mem::ManuallyDrop;
use std::pin::Pin;
use std::task::{Context, Poll};

use super::call_error::CallError;
use super::hold::Hold;
use super::panicked::{Panicked, caught};

/// The future of a call of an asynchronous export. While it lives, its version is in use.
///
/// It runs where the caller polls it.
#[must_use = "futures do nothing unless they are awaited"]
pub struct Pending<R> {
    /// The module's. Dropped before the hold.
    future: Pin<Box<dyn Future<Output = Result<R, Panicked>> + Send>>,
    /// `None` only until the call has returned it.
    hold: Option<Hold>,
}

/// A future of the module that catches its panics, both when it is polled and when it is dropped.
struct Caught<F>(ManuallyDrop<F>);

impl<R> Pending<R> {
    /// For the attribute `export`.
    #[doc(hidden)]
    pub fn new(future: impl Future<Output = R> + Send + 'static) -> Pending<R> {
        Pending { future: Box::pin(Caught(ManuallyDrop::new(future))), hold: None }
    }

    /// The caller is still inside the version.
    pub(crate) fn holding(mut self, hold: Hold) -> Pending<R> {
        self.hold = Some(hold);
        self
    }
}

impl<R> Future for Pending<R> {
    type Output = Result<R, CallError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.future.as_mut().poll(cx).map(|result| Ok(result?))
    }
}

impl<F: Future> Future for Caught<F> {
    type Output = Result<F::Output, Panicked>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        // SAFETY: the field is pinned with `self`: nothing moves it, and it is dropped in place.
        let future = unsafe { self.map_unchecked_mut(|caught| &mut *caught.0) };
        match caught(|| future.poll(cx)) {
            Ok(poll) => poll.map(Ok),
            Err(panicked) => Poll::Ready(Err(panicked)),
        }
    }
}

impl<F> Drop for Caught<F> {
    fn drop(&mut self) {
        // SAFETY: it is not used again.
        let dropped = caught(|| unsafe { ManuallyDrop::drop(&mut self.0) });
        // The caller has dropped the future: the message goes nowhere.
        let _ = dropped.map_err(Panicked::into_message);
    }
}

impl<R> fmt::Debug for Pending<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Pending")
    }
}
