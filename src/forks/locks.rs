//! Locks that a forked child finds free: who forks holds them meanwhile, so that nobody does whom the child has not got.

/// Has what `$lock` locks held across each fork from now on; `$lock` gives a guard of a `$type`, and does nothing else.
///
/// If there is no memory to note that, a child may find the lock taken for ever.
macro_rules! hold_across_forks {
    ($type:ty, $lock:expr) => {{
        use ::std::cell::Cell;
        use ::std::mem::ManuallyDrop;
        use ::std::sync::MutexGuard;
        use ::std::sync::atomic::{AtomicBool, Ordering::Relaxed};
        ::std::thread_local! {
            // Not dropped, so that it is there for as long as the thread is.
            static HELD: Cell<Option<ManuallyDrop<MutexGuard<'static, $type>>>> = const { Cell::new(None) };
        }
        extern "C" fn hold() {
            HELD.set(Some(ManuallyDrop::new($lock)));
        }
        extern "C" fn release() {
            drop(HELD.take().map(ManuallyDrop::into_inner));
        }
        // No lock, which a fork could leave taken.
        static NOTED: AtomicBool = AtomicBool::new(false);
        if !NOTED.load(Relaxed) && !NOTED.swap(true, Relaxed) {
            let _ = $crate::thread_progress::os::around_fork(hold, release);
        }
    }};
}
pub(crate) use hold_across_forks;
