//! The number of extra threads of a pool: those beyond the ones that each lane of each shard may have anyway.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Relaxed, everywhere: the number stands for itself.
pub(super) struct ExtraThreads {
    limit: usize,
    threads: AtomicUsize,
}

impl ExtraThreads {
    pub fn new(limit: usize) -> ExtraThreads {
        ExtraThreads { limit, threads: AtomicUsize::new(0) }
    }

    /// Counts one more thread. Returns `false` if there are as many as there may be.
    pub fn take(&self) -> bool {
        let one_more = |threads| (threads < self.limit).then_some(threads + 1);
        self.threads.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_more).is_ok()
    }

    /// Counts one thread less: it has ended, or did not start.
    pub fn give_back(&self) {
        self.threads.fetch_sub(1, Ordering::Relaxed);
    }
}
