//! The code modification permission: trace settings and code loads both take it, so that neither happens during the other. First come,
//! first served.
//!
//! It is tokio's mutex, which is fair, allows that a waiting task goes away, and needs no runtime.
//!
//! A forked child begins with a free permission, whoever held it. The holding thread does not exist there or, if it is the child's own,
//! releases nothing. So at each await, state that changes under the permission must be valid for a child that goes on from there.

use std::mem;
use std::ptr;

use tokio::sync::{Mutex, MutexGuard};

use super::per_process::PerProcess;
use super::prepare::prepare;
use crate::primitives::global;

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
pub(crate) async fn acquire() -> Permission {
    Permission { guard: Some(permission().lock().await) }
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

impl Drop for Permission {
    fn drop(&mut self) {
        let of_this_process = |guard| PERMISSION.peek().is_some_and(|own| ptr::eq(own, MutexGuard::mutex(guard)));
        if !self.guard.as_ref().is_some_and(of_this_process) {
            // The parent's mutex may be locked for ever.
            mem::forget(self.guard.take());
        }
    }
}
