//! The counters of a version: how many threads are inside of it, and how many futures, borrowed handles and hooks keep it.
//!
//! They are the version's alone for as long as it lives, and another version's later. They are never freed, so that a call finds them
//! wherever it has come from.

use crate::code::error::Error;
use crate::sync::atomic::{AtomicUsize, Ordering};
use crate::sync::{Mutex, MutexGuard, global, lock};
use crate::thread_progress::{USE_SLOTS, UseSlot};

/// A version's counters.
pub(crate) struct Counters {
    /// Threads inside are counted there.
    pub(crate) place: UseSlot,
    /// See [`Hold`](crate::code::call::hold::Hold).
    pub(crate) holds: &'static AtomicUsize,
}

/// Counters that no version has, and how many there are in all.
struct Pool {
    free: Vec<(UseSlot, &'static AtomicUsize)>,
    all: u32,
}

global! {
    static POOL: Mutex<Pool> = Mutex::new(Pool { free: Vec::new(), all: 0 });
}

fn pool() -> MutexGuard<'static, Pool> {
    lock(&POOL)
}

/// Has forked children find the lock free from now on.
pub(crate) fn prepare() {
    // In models nobody forks.
    #[cfg(not(loom))]
    crate::forks::hold_across_forks!(Pool, pool());
}

impl Counters {
    /// # Errors
    ///
    /// There are as many versions as there can be.
    pub(crate) fn take() -> Result<Counters, Error> {
        prepare();
        let mut pool = pool();
        let (place, holds) = match pool.free.pop() {
            Some(free) => free,
            None if pool.all as usize == USE_SLOTS => return Err(Error::TooManyVersions { most: USE_SLOTS }),
            None => {
                pool.all += 1;
                (UseSlot(pool.all - 1), &*Box::leak(Box::new(AtomicUsize::new(0))))
            }
        };
        Ok(Counters { place, holds })
    }

    /// How many futures, borrowed handles and hooks keep the version.
    pub(crate) fn holds(&self) -> usize {
        // Acquires what was done until they were dropped.
        self.holds.load(Ordering::Acquire)
    }
}

impl Drop for Counters {
    fn drop(&mut self) {
        debug_assert_eq!(self.holds.load(Ordering::Relaxed), 0, "whoever keeps a version has it");
        pool().free.push((self.place, self.holds));
    }
}
