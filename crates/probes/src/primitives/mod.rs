//! The one place that chooses between `std` and `loom`.
//!
//! Loom runs a test under every order in which its threads can take their steps; `RUSTFLAGS="--cfg loom"` builds for it,
//! then `cargo test --lib --release loom_` runs those tests. Its limits:
//!
//! - It sees locks, condition variables and threads that come through here, and nothing else: no atomic of ours that is
//!   `std`'s, no system call.
//! - Its condition variables have no spurious wake-ups. The loops that wait must be read for those.
//! - [`pause`] and [`doze`] end at once there, for a turn of the others.
//! - A model has five threads at most, its own included, and the longer ones bound how often one is interrupted.
//! - `Arc` is `std`'s even there: loom's cannot become an `Arc<dyn Trait>` while others hold it. So loom does not report a
//!   leaked `Arc`. Locks guard the values in ours; no order between threads rests on their counts.

pub mod cell;
pub mod one_writer;

#[cfg(not(loom))]
pub use std::sync::atomic;
#[cfg(not(loom))]
pub use std::sync::{Condvar, Mutex, MutexGuard};
#[cfg(not(loom))]
pub use std::thread;

#[cfg(loom)]
pub use loom::sync::atomic;
#[cfg(loom)]
pub use loom::sync::{Condvar, Mutex, MutexGuard};
#[cfg(loom)]
pub use loom::thread;

use std::sync::PoisonError;
use std::time::Duration;

/// Makes statics whose values hold atomics: loom's are made again for each run of a model.
#[cfg(not(loom))]
#[doc(hidden)]
#[macro_export]
macro_rules! __global {
    ($(pub($for:ident))? static $name:ident: $type:ty = $value:expr;) => {
        $(pub($for))? static $name: $type = $value;
    };
}
#[cfg(loom)]
#[doc(hidden)]
#[macro_export]
macro_rules! __global {
    ($(pub($for:ident))? static $name:ident: $type:ty = $value:expr;) => {
        loom::lazy_static! { $(pub($for))? static ref $name: $type = $value; }
    };
}

/// Makes a thread-local value without a destructor, which can be used from the first instruction of a thread to its last, in signal
/// handlers too.
#[cfg(not(loom))]
#[doc(hidden)]
#[macro_export]
macro_rules! __per_thread {
    ($vis:vis static $name:ident: $type:ty = $value:expr;) => {
        thread_local! { $vis static $name: $type = const { $value }; }
        const _: () = assert!(!std::mem::needs_drop::<$type>());
    };
}
#[cfg(loom)]
#[doc(hidden)]
#[macro_export]
macro_rules! __per_thread {
    ($vis:vis static $name:ident: $type:ty = $value:expr;) => {
        loom::thread_local! { $vis static $name: $type = $value; }
    };
}
pub use crate::{__global as global, __per_thread as per_thread};

/// Sleeps between two looks at the state of other threads.
pub fn pause(duration: Duration) {
    #[cfg(not(loom))]
    thread::sleep(duration);
    #[cfg(loom)]
    let () = {
        let _ = duration;
        thread::yield_now()
    };
}

/// As [`pause`], but ends early if the thread is unparked.
pub fn doze(duration: Duration) {
    #[cfg(not(loom))]
    thread::park_timeout(duration);
    #[cfg(loom)]
    pause(duration);
}

/// Locks a mutex under which nothing panics that leaves its value half changed.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Waits on a condition variable, under such a mutex.
pub fn wait<'a, T>(condvar: &Condvar, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
    condvar.wait(guard).unwrap_or_else(PoisonError::into_inner)
}

/// The same for `time` at most; returns whether it timed out. Under loom it never does.
pub fn wait_timeout<'a, T>(condvar: &Condvar, guard: MutexGuard<'a, T>, time: Duration) -> (MutexGuard<'a, T>, bool) {
    #[cfg(not(loom))]
    {
        let (guard, result) = condvar.wait_timeout(guard, time).unwrap_or_else(PoisonError::into_inner);
        (guard, result.timed_out())
    }
    #[cfg(loom)]
    {
        let _ = time;
        (wait(condvar, guard), false)
    }
}
