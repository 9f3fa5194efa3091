//! Values that a forked child must not use: the pools of its parent, whose threads it does not have.
//!
//! In the child, a lock of such a pool may be held for ever, and its operations never complete. So the child does not touch it. The
//! child's operations go to a pool of its own, whichever driver it uses. Operations in flight at the fork are ECANCELED there, and values
//! of the parent's pools are leaked. The parent is not affected.

use std::future::Future;
use std::mem;
use std::pin::Pin;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::task::{Context, Poll};

use dyntrace_probes::forks;

use crate::aio_pool::Pool;

/// A value that only the process that made it can use.
#[derive(Clone, Debug)]
pub(crate) struct ProcessLocal<T> {
    /// Taken only by `drop`.
    value: Option<T>,
    forks: u64,
}

impl<T> ProcessLocal<T> {
    pub(crate) fn new(value: T) -> ProcessLocal<T> {
        ProcessLocal { value: Some(value), forks: forks::so_far() }
    }

    /// Returns the value, or `None` in a forked child.
    pub(super) fn get(&self) -> Option<&T> {
        self.value.as_ref().filter(|_| self.forks == forks::so_far())
    }
}

impl ProcessLocal<Pool> {
    /// Returns the pool or, in a forked child, the child's own.
    pub(super) fn pool(&self) -> &Pool {
        match self.get() {
            Some(pool) => pool,
            None => pool_of_child(),
        }
    }
}

/// Resolves to `None` in a forked child.
impl<F: Future + Unpin> Future for ProcessLocal<F> {
    type Output = Option<F::Output>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<F::Output>> {
        if self.forks != forks::so_far() {
            return Poll::Ready(None);
        }
        Pin::new(self.value.as_mut().expect("only drop takes it")).poll(cx).map(Some)
    }
}

impl<T> Drop for ProcessLocal<T> {
    fn drop(&mut self) {
        if self.forks != forks::so_far() {
            mem::forget(self.value.take());
        }
    }
}

/// Returns the pool of a forked child, made at first use.
#[cold]
fn pool_of_child() -> &'static Pool {
    static CURRENT: AtomicPtr<ProcessLocal<Pool>> = AtomicPtr::new(ptr::null_mut());
    loop {
        let current = CURRENT.load(Ordering::Acquire);
        // SAFETY: the pointer is null or was leaked below, so it is never freed, and it is shared.
        if let Some(pool) = unsafe { current.as_ref() }.and_then(ProcessLocal::get) {
            return pool;
        }
        let new = Box::into_raw(Box::new(ProcessLocal::new(Pool::builder().build())));
        // Release: pairs with the load above. If another thread was first, its pool serves; this one, which has no threads yet, stays
        // unused.
        let _ = CURRENT.compare_exchange(current, new, Ordering::AcqRel, Ordering::Relaxed);
    }
}
