//! The future of a change, and the effect of dropping it.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};

use dyntrace_probes::{host, thread_progress};

use crate::code::error::Error;
use crate::code::load_error::LoadError;

/// A change in progress. If dropped before its commit it is undone, else completed; the maintenance thread does either.
#[must_use = "nothing is changed until it is polled"]
pub(crate) struct Changing<T: 'static> {
    /// `None` once it has ended.
    sequence: Option<Sequence<T>>,
    abandoned: Abandoned,
    was_polled: bool,
}

type Sequence<T> = Pin<Box<dyn Future<Output = Result<T, Error>> + Send>>;

/// Whether the future of a change was dropped.
#[derive(Clone, Default)]
pub(crate) struct Abandoned(Arc<AtomicBool>);

impl Abandoned {
    pub(crate) fn is_so(&self) -> bool {
        // Relaxed: handing the sequence to another thread orders it.
        self.0.load(Ordering::Relaxed)
    }

    pub(crate) fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl<T: 'static> Changing<T> {
    pub(crate) fn new<F: Future<Output = Result<T, Error>> + Send + 'static>(
        sequence: impl FnOnce(Abandoned) -> F,
    ) -> Changing<T> {
        let abandoned = Abandoned::default();
        Changing { sequence: Some(Box::pin(sequence(abandoned.clone()))), abandoned, was_polled: false }
    }
}

impl<T: 'static> Future for Changing<T> {
    type Output = Result<T, Error>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        if host::is_guest() {
            self.sequence = None;
            return Poll::Ready(Err(LoadError::in_module("change what is loaded").into()));
        }
        if thread_progress::is_pinned() {
            self.abandon();
            return Poll::Ready(Err(Error::InView));
        }
        self.was_polled = true;
        let sequence = self.sequence.as_mut().expect("a future is not polled after it has ended");
        let answer = ready!(sequence.as_mut().poll(cx));
        self.sequence = None;
        Poll::Ready(answer)
    }
}

impl<T: 'static> Drop for Changing<T> {
    fn drop(&mut self) {
        self.abandon();
    }
}

impl<T: 'static> Changing<T> {
    /// The caller has stopped waiting.
    fn abandon(&mut self) {
        if let Some(sequence) = self.sequence.take().filter(|_| self.was_polled) {
            self.abandoned.set();
            // If no thread can complete it, the future is dropped: staged changes are noted as stale, and never committed.
            let _ = thread_progress::complete(async {
                let _ = sequence.await;
            });
        }
    }
}
