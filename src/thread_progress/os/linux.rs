//! Linux: `membarrier(2)`, and asking after a thread by a signal that is none.

use rustix::thread::{MembarrierCommand, gettid, membarrier};

use super::errno;

/// The current thread's id, never zero.
pub(crate) fn thread_id() -> u32 {
    gettid().as_raw_nonzero().get().cast_unsigned()
}

/// Whether this process has no thread of this id. Leaves `errno` alone.
pub(crate) fn has_ended(thread: u32) -> bool {
    // SAFETY: the address of the thread's own `errno`, always valid.
    let errno = unsafe { &mut *errno() };
    let before = *errno;
    // SAFETY: signal 0 is never delivered; bad ids are answered with an error.
    let answer = unsafe { libc::syscall(libc::SYS_tgkill, libc::getpid(), thread, 0) };
    let ended = answer != 0 && *errno == libc::ESRCH;
    *errno = before;
    ended
}

/// Empty if the thread has ended.
pub(crate) fn thread_name(thread: u32) -> String {
    std::fs::read_to_string(format!("/proc/self/task/{thread}/comm"))
        .map_or_else(|_| String::new(), |name| name.trim_end().into())
}

/// Announces barriers; false where the system has none, or forbids them.
pub(crate) fn register_barrier() -> bool {
    membarrier(MembarrierCommand::RegisterPrivateExpedited).is_ok()
}

/// A full barrier in every running thread of the process.
pub(crate) fn barrier() -> bool {
    membarrier(MembarrierCommand::PrivateExpedited).is_ok()
}
