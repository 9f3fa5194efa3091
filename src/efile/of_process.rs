//! What a forked child cannot go on with: the pools of its parent, whose threads it does not have.
//!
//! A lock of theirs may be held for ever in the child, and what was submitted is never answered there. So the child does
//! not touch them: what is submitted in it goes to a pool of its own, whichever driver it comes by, what was in flight is
//! ECANCELED there, and what belongs to the parent's pools is leaked. All goes on in the parent as if nothing had been.

use std::future::Future;
use std::mem;
use std::pin::Pin;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::task::{Context, Poll};

use crate::aio_pool::Pool;
use crate::forks;

/// Something that only the process that made it can use.
#[derive(Clone, Debug)]
pub(crate) struct OfProcess<T> {
    /// Gone only when it is dropped.
    value: Option<T>,
    forks: u64,
}

impl<T> OfProcess<T> {
    pub(crate) fn new(value: T) -> OfProcess<T> {
        OfProcess { value: Some(value), forks: forks::so_far() }
    }

    /// `None` in a forked child.
    pub(super) fn get(&self) -> Option<&T> {
        self.value.as_ref().filter(|_| self.forks == forks::so_far())
    }
}

impl OfProcess<Pool> {
    /// The pool, or that of the child.
    pub(super) fn pool(&self) -> &Pool {
        match self.get() {
            Some(pool) => pool,
            None => pool_of_child(),
        }
    }
}

/// `None` comes of a future that a forked child has from its parent.
impl<F: Future + Unpin> Future for OfProcess<F> {
    type Output = Option<F::Output>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<F::Output>> {
        if self.forks != forks::so_far() {
            return Poll::Ready(None);
        }
        Pin::new(self.value.as_mut().expect("only drop takes it")).poll(cx).map(Some)
    }
}

impl<T> Drop for OfProcess<T> {
    fn drop(&mut self) {
        if self.forks != forks::so_far() {
            mem::forget(self.value.take());
        }
    }
}

/// The pool that a forked child works with, made when it is first needed.
#[cold]
fn pool_of_child() -> &'static Pool {
    static CURRENT: AtomicPtr<OfProcess<Pool>> = AtomicPtr::new(ptr::null_mut());
    loop {
        let current = CURRENT.load(Ordering::Acquire);
        // SAFETY: what stands there is null or was leaked below, so it is never freed, and nobody changes it.
        if let Some(pool) = unsafe { current.as_ref() }.and_then(OfProcess::get) {
            return pool;
        }
        let new = Box::into_raw(Box::new(OfProcess::new(Pool::builder().build())));
        // Acquire's partner: who finds the pool finds it made. Another thread may have been first; its pool serves, and
        // this one, which has no threads yet, stays unused.
        let _ = CURRENT.compare_exchange(current, new, Ordering::AcqRel, Ordering::Relaxed);
    }
}
