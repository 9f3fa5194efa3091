//! Work that, once it has begun, is done to its end.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use super::{complete, is_pinned};

/// A future that, once it was polled, is polled to its end: by the maintenance thread, if it is dropped. A pinned thread is refused,
/// since it would wait for itself, and is told `None`.
pub(crate) struct Completed<F: Future<Output: Send> + Send + 'static> {
    /// `None` when it has ended.
    work: Option<Pin<Box<F>>>,
    was_polled: bool,
}

impl<F: Future<Output: Send> + Send + 'static> Completed<F> {
    pub(crate) fn new(work: F) -> Completed<F> {
        Completed { work: Some(Box::pin(work)), was_polled: false }
    }
}

impl<F: Future<Output: Send> + Send + 'static> Future for Completed<F> {
    type Output = Option<F::Output>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<F::Output>> {
        if is_pinned() {
            return Poll::Ready(None);
        }
        self.was_polled = true;
        let work = self.work.as_mut().expect("a future is not polled after it has ended");
        let output = ready!(work.as_mut().poll(cx));
        self.work = None;
        Poll::Ready(Some(output))
    }
}

impl<F: Future<Output: Send> + Send + 'static> Drop for Completed<F> {
    fn drop(&mut self) {
        if let Some(work) = self.work.take().filter(|_| self.was_polled) {
            // Without a thread for it, the work is dropped.
            let _ = complete(async {
                work.await;
            });
        }
    }
}
