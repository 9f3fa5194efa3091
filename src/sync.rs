//! The one place that chooses between `std` and `loom`.
//!
//! Loom runs a test under every order in which its threads can take their steps; `RUSTFLAGS="--cfg loom"` builds for it,
//! then `cargo test --lib --release loom_` runs those tests. Its limits:
//!
//! - It sees locks, condition variables and threads that come through here, and nothing else: no atomic of ours that is
//!   `std`'s, no system call.
//! - Its condition variables never wake without a reason. That a worker bears it when one does is shown by reading the
//!   loop that waits.
//! - A model has five threads at most, its own included, and the longer ones bound how often one is interrupted.
//! - `Arc` is `std`'s even there: loom's cannot become an `Arc<dyn Trait>` while others hold it. So loom does not report a
//!   leaked `Arc`. What ours hold is guarded by locks; no order between threads rests on their counts.

#[cfg(not(loom))]
pub(crate) use std::sync::{Condvar, Mutex, MutexGuard};
#[cfg(not(loom))]
pub(crate) use std::thread;

#[cfg(loom)]
pub(crate) use loom::sync::{Condvar, Mutex, MutexGuard};
#[cfg(loom)]
pub(crate) use loom::thread;

use std::sync::PoisonError;

/// Locks a mutex under which nothing panics that leaves its value half changed.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Waits on a condition variable, under such a mutex.
pub(crate) fn wait<'a, T>(bell: &Condvar, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
    bell.wait(guard).unwrap_or_else(PoisonError::into_inner)
}
