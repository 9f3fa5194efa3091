//! The one permission to change what runs: trace settings and code loads both take it, so that neither happens during the
//! other. Who comes first is first; the others wait asleep.
//!
//! The line is tokio's mutex, which is fair, bears that whoever waits goes away, and needs no runtime.
//!
//! A forked child begins with a free permission, whoever held it: that thread is not there, or is the child's own, which
//! gives back nothing then. So what is changed under the permission must at each await be fit for a child that goes on
//! from there.

use std::mem;
use std::ptr;

use tokio::sync::{Mutex, MutexGuard};

use super::fork::prepare;
use super::per_process::PerProcess;
use crate::sync::global;

global! {
    static LINE: PerProcess<Mutex<()>> = PerProcess::new();
}

/// Given back when it is dropped: to the first in line.
#[must_use = "given back when this is dropped"]
pub(crate) struct Permission {
    /// `Some` until it is dropped.
    guard: Option<MutexGuard<'static, ()>>,
}

/// Waits in line, on any executor. Who is dropped there leaves the line, and whoever stands behind moves up.
pub(crate) async fn acquire() -> Permission {
    Permission { guard: Some(line().lock().await) }
}

fn line() -> &'static Mutex<()> {
    // Without memory for the fork's handler, a child has its parent's line.
    let _ = prepare();
    LINE.get()
}

impl Drop for Permission {
    fn drop(&mut self) {
        let of_this_process = |guard| LINE.peek().is_some_and(|line| ptr::eq(line, MutexGuard::mutex(guard)));
        if !self.guard.as_ref().is_some_and(of_this_process) {
            // The parent's line may be locked for ever.
            mem::forget(self.guard.take());
        }
    }
}
