//! Blocking a thread outside of asynchronous tasks.

use tokio::sync::Mutex;

use crate::unpark;

/// Blocks the thread until the future is ready.
///
/// # Panics
///
/// Panics in an asynchronous task, with tokio's message.
#[track_caller]
pub(super) fn block_on<T>(future: impl Future<Output = T>) -> T {
    // Never blocks: tokio panics here where it would panic if it blocked.
    drop(Mutex::const_new(()).blocking_lock());
    unpark::block_on(future)
}
