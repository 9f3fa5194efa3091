//! Masks of signals.

/// Runs `f`, which starts a thread, with all signals blocked: the new thread takes none.
#[cfg(not(miri))]
pub fn without_signals<R>(f: impl FnOnce() -> R) -> R {
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
pub fn without_signals<R>(f: impl FnOnce() -> R) -> R {
    f()
}

/// Whether this thread may be in a signal handler. Safe in one.
///
/// While a handler runs, its signal is blocked in its thread, unless the handler has the flag `SA_NODEFER`. So the answer is `false` only if
/// the thread blocks no signal and no handler of the program has that flag.
#[cfg(all(recorded, target_os = "linux"))]
pub fn may_be_in_handler() -> bool {
    // SAFETY: plain data that the call fills in.
    let blocked = unsafe {
        let mut blocked = std::mem::zeroed();
        match libc::pthread_sigmask(libc::SIG_BLOCK, std::ptr::null(), &mut blocked) {
            0 => blocked,
            _ => return true,
        }
    };
    let may_nest = |signal| {
        // SAFETY: plain data that the call fills in. It fails for the numbers that the C library keeps for itself.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            libc::sigaction(signal, std::ptr::null(), &mut action) == 0
                && action.sa_flags & libc::SA_NODEFER != 0
                && ![libc::SIG_DFL, libc::SIG_IGN].contains(&action.sa_sigaction)
        }
    };
    // SAFETY: reads plain data.
    let is_blocked = |signal| unsafe { libc::sigismember(&blocked, signal) == 1 };
    let signals = || 1..=libc::SIGRTMAX();
    // Asks the system about each signal only if none is blocked.
    signals().any(is_blocked) || signals().any(may_nest)
}

/// Runs `f`, which writes files. A write beyond the process's file size limit fails with EFBIG, and the signal that comes with it (SIGXFSZ)
/// does not end the program: it is directed to this thread, which consumes it. Safe in signal handlers.
#[cfg(all(target_os = "linux", not(any(miri, dyntrace_portable))))]
pub fn without_file_size_signal<R>(f: impl FnOnce() -> R) -> R {
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
pub fn without_file_size_signal<R>(f: impl FnOnce() -> R) -> R {
    f()
}

#[cfg(all(recorded, test, target_os = "linux"))]
mod tests {
    use std::sync::atomic::{AtomicI32, Ordering::Relaxed};

    use super::*;

    static SEEN: AtomicI32 = AtomicI32::new(-1);

    extern "C" fn handler(_: libc::c_int) {
        SEEN.store(may_be_in_handler().into(), Relaxed);
    }

    /// Has `handler` handle the signal, and returns what it saw.
    fn handled(signal: i32, flags: i32) -> i32 {
        // SAFETY: the handler stores a number; the signal is sent to this thread and handled before `raise` returns.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            (action.sa_sigaction, action.sa_flags) = (handler as extern "C" fn(libc::c_int) as usize, flags);
            assert_eq!(libc::sigaction(signal, &action, std::ptr::null_mut()), 0);
            assert_eq!(libc::raise(signal), 0);
        }
        SEEN.swap(-1, Relaxed)
    }

    /// In a child: dispositions of signals are the whole process's.
    #[test]
    fn a_handler_is_told_from_other_code() {
        crate::forked::in_child(|| {
            let outside = may_be_in_handler();
            let inside = handled(libc::SIGUSR1, 0);
            let after = may_be_in_handler();
            let blocked = without_signals(may_be_in_handler);
            let nested = handled(libc::SIGUSR2, libc::SA_NODEFER);
            let beside = may_be_in_handler();
            assert_eq!((outside, inside, after, blocked, nested, beside), (false, 1, false, true, 1, true));
        });
    }
}
