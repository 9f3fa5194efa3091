//! Counts forks, so that a child can tell its parent's values from its own: it does not have the threads that those need.

mod locks;
pub mod os;
#[cfg(rings)]
mod zeroed;

use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::thread_progress::os::after_fork_in_child;

pub use locks::hold_across_forks;
#[cfg(rings)]
pub use zeroed::ZeroedByFork;

static FORKS: AtomicU64 = AtomicU64::new(0);

extern "C" fn forked() {
    // Relaxed: the child has one thread, and starts others only later.
    FORKS.fetch_add(1, Ordering::Relaxed);
}

/// Counts forks from now on. Call it before the first value that a fork may copy. Repeated calls do nothing.
///
/// # Errors
///
/// There is no memory for the fork handler. A later call tries again.
pub fn count() -> io::Result<()> {
    static COUNTED: AtomicBool = AtomicBool::new(false);
    // Without a lock, which a fork could leave locked. Two threads may both register; then a fork counts twice, which is harmless.
    if !COUNTED.load(Ordering::Relaxed) {
        after_fork_in_child(forked)?;
        COUNTED.store(true, Ordering::Relaxed);
    }
    Ok(())
}

/// Returns the count. If it has changed, this is another process.
#[inline]
pub fn so_far() -> u64 {
    FORKS.load(Ordering::Relaxed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(not(any(loom, miri)))]
    fn a_child_is_another_process() {
        count().unwrap();
        count().unwrap();
        let before = so_far();
        crate::forked::in_child(|| assert_ne!(so_far(), before));
        assert_eq!(so_far(), before);
    }
}
