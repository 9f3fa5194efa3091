//! Linux: `membarrier(2)`, and signal 0 to check for a thread.

use rustix::thread::{MembarrierCommand, gettid, membarrier};

use super::errno;

/// Returns the current thread's id, never zero.
pub fn thread_id() -> u32 {
    gettid().as_raw_nonzero().get().cast_unsigned()
}

/// Returns whether this process has no thread of this id. Keeps `errno`.
pub fn has_ended(thread: u32) -> bool {
    // SAFETY: the address of the thread's own `errno`, always valid.
    let errno = unsafe { &mut *errno() };
    let before = *errno;
    // SAFETY: signal 0 is never delivered; a bad id is an error.
    let answer = unsafe { libc::syscall(libc::SYS_tgkill, libc::getpid(), thread, 0) };
    let ended = answer != 0 && *errno == libc::ESRCH;
    *errno = before;
    ended
}

/// Does nothing: [`has_ended`] tells it.
pub fn at_end_of_thread(_act: fn()) {}

/// Returns the thread's name; empty if it has ended.
pub fn thread_name(thread: u32) -> String {
    std::fs::read_to_string(format!("/proc/self/task/{thread}/comm"))
        .map_or_else(|_| String::new(), |name| name.trim_end().into())
}

/// Registers for barriers. Returns false if the system has none, or forbids them.
pub fn register_barrier() -> bool {
    membarrier(MembarrierCommand::RegisterPrivateExpedited).is_ok()
}

/// Issues a full barrier in every running thread of the process.
pub fn barrier() -> bool {
    membarrier(MembarrierCommand::PrivateExpedited).is_ok()
}
