//! FreeBSD: thread ids, and signal 0 to check for a thread. Compiled, never run.

use super::errno;
pub use super::no_barrier::{barrier, register_barrier};

/// Returns the current thread's id, never zero, as `procstat -t` shows it.
pub fn thread_id() -> u32 {
    // SAFETY: it has no arguments, and cannot fail.
    unsafe { libc::pthread_getthreadid_np() }.cast_unsigned()
}

/// Returns whether this process has no thread of this id. Keeps `errno`.
pub fn has_ended(thread: u32) -> bool {
    // SAFETY: the address of the thread's own `errno`, always valid.
    let errno = unsafe { &mut *errno() };
    let before = *errno;
    // SAFETY: signal 0 is never delivered; a bad id is an error.
    let answer = unsafe { libc::thr_kill2(libc::getpid(), thread.into(), 0) };
    let ended = answer != 0 && *errno == libc::ESRCH;
    *errno = before;
    ended
}

/// Does nothing: [`has_ended`] tells it.
pub fn at_end_of_thread(_act: fn()) {}

/// Returns an empty name: the system tells names by handles of threads, not by their ids.
pub fn thread_name(_thread: u32) -> String {
    String::new()
}
