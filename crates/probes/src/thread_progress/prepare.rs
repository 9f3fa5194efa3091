//! Registers the fork handler and the barriers before the first thread pins.

use std::cell::Cell;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64};

use super::pin::{EXPEDITED, OWN, REGISTRY};
use super::{os, use_counts};
use crate::primitives::atomic::{Ordering, fence};

static FORKS: AtomicU64 = AtomicU64::new(0);

/// Returns the number of forks since the first [`prepare`]. If it has changed, this is another process, with other threads.
pub(super) fn forks() -> u64 {
    // Relaxed: the child has one thread, and starts others only later.
    FORKS.load(Ordering::Relaxed)
}

/// Registers the fork handler and the barriers that make pins cheap. Call it before any pin that a fork may copy, so before a session
/// enables probes; every wait calls it, too. Repeated calls do nothing.
///
/// # Errors
///
/// There is no memory for the fork handler.
pub fn prepare() -> io::Result<()> {
    // The standard library registers the end of a thread under the dynamic linker's lock, at the latest when the thread starts another. A
    // thread that unloads a library holds that lock, and may wait for one under which the caller starts a thread.
    let _ = std::thread::current();
    // Without a lock, which a fork could leave locked. Two threads may both register, which is harmless.
    static PREPARED: AtomicBool = AtomicBool::new(false);
    if !PREPARED.load(Ordering::Acquire) {
        note_forks()?;
        // A pin that still sees the old value has a barrier of its own.
        EXPEDITED.store(os::register_barrier(), Ordering::Relaxed);
        PREPARED.store(true, Ordering::Release); // after EXPEDITED
    }
    Ok(())
}

/// Registers the fork handler alone. Call it before a thread takes a record that a fork may copy. Repeated calls do nothing.
///
/// # Errors
///
/// There is no memory for the fork handler.
pub(super) fn note_forks() -> io::Result<()> {
    // As in `prepare`.
    static NOTED: AtomicBool = AtomicBool::new(false);
    if !NOTED.load(Ordering::Relaxed) {
        os::after_fork_in_child(forked)?;
        NOTED.store(true, Ordering::Relaxed);
    }
    Ok(())
}

/// Runs in the child, on its only thread, whose pins live on.
extern "C" fn forked() {
    FORKS.fetch_add(1, Ordering::Relaxed);
    let own = OWN.with(Cell::get);
    for record in REGISTRY.records() {
        if own.is_some_and(|own| std::ptr::eq(own, record)) {
            record.hand_over(os::thread_id());
        } else {
            record.free();
            record.forget_use_table();
        }
    }
    use_counts::forget();
    if EXPEDITED.load(Ordering::Relaxed) {
        EXPEDITED.store(os::register_barrier(), Ordering::Relaxed);
    }
}

/// Step 4. Returns false if the operating system refuses the barrier that it promised: then a wait has to try again.
pub(super) fn barrier() -> bool {
    fence(Ordering::SeqCst); // its partner is the fence of step 2
    !EXPEDITED.load(Ordering::Relaxed) || os::barrier()
}
