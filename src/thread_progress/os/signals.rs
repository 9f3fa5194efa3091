//! Masks of signals.

/// Runs `f`, which starts a thread, with all signals blocked: the new thread takes none.
#[cfg(not(miri))]
pub(crate) fn without_signals<R>(f: impl FnOnce() -> R) -> R {
    // SAFETY: plain data that the calls fill in; the mask of this thread is restored.
    unsafe {
        let (mut all, mut before) = (std::mem::zeroed(), std::mem::zeroed());
        libc::sigfillset(&mut all);
        libc::pthread_sigmask(libc::SIG_SETMASK, &all, &mut before);
        let result = f();
        libc::pthread_sigmask(libc::SIG_SETMASK, &before, std::ptr::null_mut());
        result
    }
}

/// Miri has no signals.
#[cfg(miri)]
pub(crate) fn without_signals<R>(f: impl FnOnce() -> R) -> R {
    f()
}

/// Runs `f`, which writes files. A write beyond the process's file size limit fails with EFBIG, and the signal that comes with it (SIGXFSZ)
/// does not end the program: it is directed to this thread, which consumes it. Safe in signal handlers.
#[cfg(all(target_os = "linux", not(any(miri, dyntrace_portable))))]
pub(crate) fn without_file_size_signal<R>(f: impl FnOnce() -> R) -> R {
    /// Restores the mask, also if `f` panics.
    struct Blocked {
        signal: libc::sigset_t,
        before: libc::sigset_t,
        was_pending: bool,
    }

    fn is_pending() -> bool {
        // SAFETY: plain data that the calls fill in.
        unsafe {
            let mut pending = std::mem::zeroed();
            libc::sigpending(&mut pending);
            libc::sigismember(&pending, libc::SIGXFSZ) == 1
        }
    }

    impl Drop for Blocked {
        fn drop(&mut self) {
            let at_once = libc::timespec { tv_sec: 0, tv_nsec: 0 };
            // A signal that was pending before has another cause.
            if !self.was_pending && is_pending() {
                // SAFETY: plain data that the calls read.
                unsafe { libc::sigtimedwait(&self.signal, std::ptr::null_mut(), &at_once) };
            }
            // SAFETY: the mask from before.
            unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &self.before, std::ptr::null_mut()) };
        }
    }

    // SAFETY: plain data that the calls fill in.
    let (signal, before) = unsafe {
        let (mut signal, mut before) = (std::mem::zeroed(), std::mem::zeroed());
        libc::sigemptyset(&mut signal);
        libc::sigaddset(&mut signal, libc::SIGXFSZ);
        libc::pthread_sigmask(libc::SIG_BLOCK, &signal, &mut before);
        (signal, before)
    };
    let _blocked = Blocked { signal, before, was_pending: is_pending() };
    f()
}

/// Runs `f`. On other systems the signal is directed to the process, so that another thread may take it, and macOS has no
/// `sigtimedwait(3)`. The recorder checks the limit before its files grow.
#[cfg(not(all(target_os = "linux", not(any(miri, dyntrace_portable)))))]
pub(crate) fn without_file_size_signal<R>(f: impl FnOnce() -> R) -> R {
    f()
}
