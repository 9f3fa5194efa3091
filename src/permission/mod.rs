//! The code modification permission: trace settings and code loads both take it, so that neither happens during the other. First come,
//! first served.
//!
//! It is tokio's mutex, which is fair, allows that a waiting task goes away, and needs no runtime.
//!
//! A forked child begins with a free permission, whoever held it. The holding thread does not exist there or, if it is the child's own,
//! releases nothing. A future that was in line in the parent joins the child's line when it is polled there. So at each await, state that
//! changes under the permission must be valid for a child that goes on from there.

use std::future::Future;
use std::mem;
use std::pin::Pin;
use std::ptr;
use std::task::{Context, Poll};

use tokio::sync::{Mutex, MutexGuard};

use dyntrace_probes::primitives::global;
use dyntrace_probes::thread_progress::per_process::PerProcess;
use dyntrace_probes::thread_progress::prepare;

global! {
    static PERMISSION: PerProcess<Mutex<()>> = PerProcess::new(forget);
}

/// Released on drop, to the first that waits.
#[must_use = "released on drop"]
pub(crate) struct Permission {
    /// `Some` until it is dropped.
    guard: Option<MutexGuard<'static, ()>>,
}

/// Acquires the permission, on any executor. A waiting future that is dropped leaves the queue.
pub(crate) fn acquire() -> Acquire {
    Acquire { place: None }
}

/// The future of [`acquire`].
#[must_use = "nothing is acquired until it is polled"]
pub(crate) struct Acquire {
    /// Its place in the queue, from the first poll until it has the permission.
    place: Option<Place>,
}

struct Place {
    mutex: &'static Mutex<()>,
    lock: Pin<Box<dyn Future<Output = MutexGuard<'static, ()>> + Send>>,
}

impl Acquire {
    /// Leaves the queue.
    fn leave(&mut self) {
        if let Some(place) = self.place.take()
            && !is_of_this_process(place.mutex)
        {
            // A thread of the parent may have been changing its queue, which is locked for ever then.
            mem::forget(place);
        }
    }
}

impl Future for Acquire {
    type Output = Permission;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Permission> {
        if self.place.as_ref().is_some_and(|place| !is_of_this_process(place.mutex)) {
            self.leave();
        }
        let place = self.place.get_or_insert_with(|| {
            let mutex = permission();
            Place { mutex, lock: Box::pin(mutex.lock()) }
        });
        let answer = place.lock.as_mut().poll(cx).map(|guard| Permission { guard: Some(guard) });
        if answer.is_ready() {
            self.place = None;
        }
        answer
    }
}

impl Drop for Acquire {
    fn drop(&mut self) {
        self.leave();
    }
}

/// Runs in a forked child.
extern "C" fn forget() {
    PERMISSION.forget();
}

fn permission() -> &'static Mutex<()> {
    // Without memory for the fork handler, a child has its parent's mutex.
    let _ = prepare();
    PERMISSION.get()
}

fn is_of_this_process(mutex: &Mutex<()>) -> bool {
    PERMISSION.peek().is_some_and(|own| ptr::eq(own, mutex))
}

impl Drop for Permission {
    fn drop(&mut self) {
        if !self.guard.as_ref().is_some_and(|guard| is_of_this_process(MutexGuard::mutex(guard))) {
            // The parent's mutex may be locked for ever.
            mem::forget(self.guard.take());
        }
    }
}

#[cfg(all(test, not(any(loom, miri))))]
mod tests;
