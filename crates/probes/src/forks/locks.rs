//! Locks that a forked child finds free: the forking thread holds them during the fork, so that no thread that the child lacks does.

/// Holds a lock across each fork from now on. `$lock` returns a guard of a `$type`, and does nothing else.
///
/// Without memory for the fork handlers, a child may find the lock taken for ever.
#[doc(hidden)]
#[macro_export]
macro_rules! __hold_across_forks {
    ($type:ty, $lock:expr) => {{
        use ::std::cell::Cell;
        use ::std::mem::ManuallyDrop;
        use ::std::sync::MutexGuard;
        use ::std::sync::atomic::{AtomicBool, Ordering::Relaxed};
        ::std::thread_local! {
            // Without a destructor, so that it lives as long as the thread.
            static HELD: Cell<Option<ManuallyDrop<MutexGuard<'static, $type>>>> = const { Cell::new(None) };
        }
        extern "C" fn hold() {
            HELD.set(Some(ManuallyDrop::new($lock)));
        }
        extern "C" fn release() {
            drop(HELD.take().map(ManuallyDrop::into_inner));
        }
        // Without a lock, which a fork could leave locked.
        static NOTED: AtomicBool = AtomicBool::new(false);
        if !NOTED.load(Relaxed) && !NOTED.swap(true, Relaxed) {
            let _ = $crate::thread_progress::os::around_fork(hold, release);
        }
    }};
}
pub use crate::__hold_across_forks as hold_across_forks;
