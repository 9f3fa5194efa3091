//! How many forks lie between the first process and this one: what needs a thread that the child of a fork does not have
//! belongs to the process that made it.

#[cfg(recorder)]
mod anew;
mod locks;
pub(crate) mod os;

use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::thread_progress::os::after_fork_in_child;

#[cfg(recorder)]
pub(crate) use anew::{Anew, Zeros};
pub(crate) use locks::hold_across_forks;

static FORKS: AtomicU64 = AtomicU64::new(0);

extern "C" fn forked() {
    // Relaxed: the child has one thread, and whatever others it starts come later.
    FORKS.fetch_add(1, Ordering::Relaxed);
}

/// Has forks counted from now on: to be called before there is anything that they may copy. Repeated calls do nothing.
///
/// # Errors
///
/// There is no memory to note what is to be done after a fork. A later call tries again.
pub(crate) fn count() -> io::Result<()> {
    static COUNTED: AtomicBool = AtomicBool::new(false);
    // No lock, which a fork could leave taken: two threads may both do it, and a fork then counts twice, which is as good.
    if !COUNTED.load(Ordering::Relaxed) {
        after_fork_in_child(forked)?;
        COUNTED.store(true, Ordering::Relaxed);
    }
    Ok(())
}

/// How many there were so far. Another number than before says that this is another process.
pub(crate) fn so_far() -> u64 {
    FORKS.load(Ordering::Relaxed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(not(miri))]
    fn a_child_is_another_process() {
        count().unwrap();
        count().unwrap();
        let before = so_far();
        // SAFETY: the child does nothing but to look at a number and to end.
        let child = unsafe { libc::fork() };
        assert!(child >= 0);
        if child == 0 {
            // SAFETY: ends the child at once, without a word to what it has of its parent's.
            unsafe { libc::_exit((so_far() == before).into()) };
        }
        let mut status = 0;
        // SAFETY: the child made above, and a place for its status.
        assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
        assert_eq!(status, 0);
        assert_eq!(so_far(), before);
    }
}
