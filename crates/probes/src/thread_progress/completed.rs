//! Futures that, once polled, run to their end.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use super::maintenance::complete;
use super::pin::is_pinned;

/// A future that, once polled, runs to its end: if it is dropped, on the maintenance thread. Resolves to `None` on a pinned thread, which
/// would wait for itself.
pub struct Completed<F: Future<Output: Send> + Send + 'static> {
    /// `None` when it has ended.
    future: Option<Pin<Box<F>>>,
    was_polled: bool,
}

impl<F: Future<Output: Send> + Send + 'static> Completed<F> {
    pub fn new(future: F) -> Completed<F> {
        Completed { future: Some(Box::pin(future)), was_polled: false }
    }
}

impl<F: Future<Output: Send> + Send + 'static> Future for Completed<F> {
    type Output = Option<F::Output>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<F::Output>> {
        if is_pinned() {
            return Poll::Ready(None);
        }
        self.was_polled = true;
        let future = self.future.as_mut().expect("a future is not polled after it has ended");
        let output = ready!(future.as_mut().poll(cx));
        self.future = None;
        Poll::Ready(Some(output))
    }
}

impl<F: Future<Output: Send> + Send + 'static> Drop for Completed<F> {
    fn drop(&mut self) {
        if let Some(future) = self.future.take().filter(|_| self.was_polled) {
            // Without a thread, the future is dropped.
            let _ = complete(async {
                future.await;
            });
        }
    }
}
