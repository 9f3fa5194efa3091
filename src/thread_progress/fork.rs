//! What forks need: a child has one of its parent's threads.

use std::cell::Cell;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

use super::pin::{EXPEDITED, OWN, REGISTRY};
use super::{os, per_process, stays};

/// Makes forks and cheap pins possible. To be called before anything is pinned that a fork may copy, so before a
/// session's probes are on; every wait sees to it, too. Repeated calls do nothing.
///
/// # Errors
///
/// There is no memory to note what is to be done after a fork.
pub(crate) fn prepare() -> io::Result<()> {
    // No lock, which a fork could leave taken: two threads may do the same here, and no harm is done.
    static PREPARED: AtomicBool = AtomicBool::new(false);
    if !PREPARED.load(Ordering::Acquire) {
        os::after_fork_in_child(forked)?;
        // A pin that still sees the old value has a barrier of its own, which does as well.
        EXPEDITED.store(os::register_barrier(), Ordering::Relaxed);
        PREPARED.store(true, Ordering::Release); // so that whoever sees it sees that value
    }
    Ok(())
}

/// In the child, on the one thread that it has. Its pins live on.
extern "C" fn forked() {
    let own = OWN.with(Cell::get);
    for record in REGISTRY.records() {
        if own.is_some_and(|own| std::ptr::eq(own, record)) {
            record.hand_over(os::thread_id());
        } else {
            record.free();
            record.forget_counts();
        }
    }
    per_process::forget_all();
    stays::forget();
    EXPEDITED.store(os::register_barrier(), Ordering::Relaxed);
}
