//! Statics that are zero in a forked child.
//!
//! The kernel wipes them while it makes the child (`MADV_WIPEONFORK`, on FreeBSD `INHERIT_ZERO`). So they are zero for the first code that
//! the child runs: signal handlers, earlier handlers of `pthread_atfork`, and children of a bare system call, which run no such
//! handlers. If the kernel cannot wipe them, or has pages that are larger than theirs, [`ZeroedByFork::forget`] does, in a handler.

use std::cell::UnsafeCell;
use std::ops::Deref;
use std::sync::atomic::AtomicBool;

use crate::thread_progress::Zeros;

/// A static on pages of its own, so that nothing else is wiped, where pages have 4 KiB.
#[repr(C, align(4096))]
pub struct ZeroedByFork<T>(UnsafeCell<T>);

// SAFETY: `T` is shared by its atomics. `forget` writes to it otherwise, and is called while there is one thread.
unsafe impl<T: Zeros> Sync for ZeroedByFork<T> {}

// SAFETY: an atomic.
unsafe impl Zeros for AtomicBool {}

impl<T: Zeros> ZeroedByFork<T> {
    /// `zeros` must have no bit set.
    pub const fn new(zeros: T) -> ZeroedByFork<T> {
        ZeroedByFork(UnsafeCell::new(zeros))
    }

    /// Has the kernel wipe it in each child from now on. Returns `false` if the kernel cannot.
    pub fn wipe_in_children(&'static self) -> bool {
        let page = rustix::param::page_size();
        // The kernel rounds the length up to its pages: larger ones have other statics behind this one.
        if !self.0.get().addr().is_multiple_of(page) || !size_of::<Self>().is_multiple_of(page) {
            return false;
        }
        // SAFETY: the pages are a static's and hold nothing else. Children have zeros there, which `T` allows.
        unsafe { super::os::wipe_in_children(self.0.get().cast(), size_of::<Self>()) }
    }

    /// Zeroes it.
    ///
    /// # Safety
    ///
    /// The caller is the only thread of a forked child.
    pub unsafe fn forget(&'static self) {
        // SAFETY: no other thread reads it, and `T` allows zeros, which own nothing.
        unsafe { self.0.get().write_bytes(0, 1) };
    }
}

impl<T: Zeros> Deref for ZeroedByFork<T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        // SAFETY: shared by its atomics only; for `forget` see there.
        unsafe { &*self.0.get() }
    }
}

// Where the kernel wipes.
#[cfg(all(test, target_os = "linux", not(any(miri, loom, dyntrace_portable))))]
mod tests {
    use std::sync::atomic::{AtomicPtr, Ordering};

    use super::*;

    static ONE: ZeroedByFork<[AtomicPtr<u8>; 600]> =
        ZeroedByFork::new([const { AtomicPtr::new(std::ptr::null_mut()) }; 600]);

    #[test]
    fn a_child_of_the_bare_system_call_has_zeros() {
        let is_set = |cell: &AtomicPtr<u8>| !cell.load(Ordering::Relaxed).is_null();
        assert!(ONE.wipe_in_children(), "the kernel wipes nothing");
        ONE.iter().for_each(|cell| cell.store(ONE.0.get().cast(), Ordering::Relaxed));
        // SAFETY: a child without shared memory, which looks at a static and leaves.
        let child = unsafe { libc::syscall(libc::SYS_clone, libc::SIGCHLD, 0, 0, 0, 0) };
        if child == 0 {
            // SAFETY: ends the child.
            unsafe { libc::_exit(ONE.iter().any(is_set).into()) };
        }
        let mut status = 0;
        // SAFETY: the child made above, and a place for its status.
        assert_eq!(unsafe { libc::waitpid(child as libc::pid_t, &mut status, 0) }, child as libc::pid_t);
        assert_eq!(status, 0);
        assert!(ONE.iter().all(is_set));
    }
}
