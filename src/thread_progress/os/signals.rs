//! Threads that take no signals.

/// Runs `f`, which starts a thread, so that the thread takes no signals.
#[cfg(not(miri))]
pub(crate) fn without_signals<R>(f: impl FnOnce() -> R) -> R {
    // SAFETY: plain data that the calls fill in; the mask of this thread is put back.
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
