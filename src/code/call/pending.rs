//! What calls of asynchronous exports answer.

use std::fmt;
use std::future::Future;
use std::mem::ManuallyDrop;
use std::pin::Pin;
use std::task::{Context, Poll};

use super::call_error::CallError;
use super::hold::Hold;
use super::panicked::{Panicked, caught};

/// A call of an asynchronous export, to be awaited. As long as it lives, its version is in use.
///
/// It runs on the caller's runtime, where it is polled.
#[must_use = "futures do nothing unless they are awaited"]
pub struct Pending<R> {
    /// The module's: dropped first.
    future: Pin<Box<dyn Future<Output = Result<R, Panicked>> + Send>>,
    /// `Some` once the caller has it.
    hold: Option<Hold>,
}

/// A future whose panics go no further, neither when it is polled nor when it is dropped. It is of the module's making.
struct Caught<F>(ManuallyDrop<F>);

impl<R> Pending<R> {
    /// For the attribute `export`.
    #[doc(hidden)]
    pub fn new(future: impl Future<Output = R> + Send + 'static) -> Pending<R> {
        Pending { future: Box::pin(Caught(ManuallyDrop::new(future))), hold: None }
    }

    /// By who has called, and is still inside.
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
        // SAFETY: the field is pinned as this is: nobody moves it, and it is dropped in its place.
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
        // Nobody asks any more.
        let _ = dropped.map_err(Panicked::into_message);
    }
}

impl<R> fmt::Debug for Pending<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Pending")
    }
}
