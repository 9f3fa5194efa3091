//! The counters of a version: threads inside it, and futures, borrowed handles and hooks that keep it in use.
//!
//! A version owns its counters while it lives; later another version reuses them. They are never freed, because late calls may still
//! look at them.

use dyntrace_probes::primitives::atomic::{AtomicUsize, Ordering};
use dyntrace_probes::primitives::{Mutex, MutexGuard, global, lock};
use dyntrace_probes::thread_progress::{USE_SLOTS, UseSlot};

use crate::code::error::Error;

/// A version's counters.
pub(crate) struct Counters {
    /// Where threads inside the version are counted.
    pub(crate) place: UseSlot,
    /// See [`Hold`](crate::code::call::hold::Hold).
    pub(crate) holds: &'static AtomicUsize,
}

/// Counters without a version, and the number of all counters.
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

/// Makes forked children find the lock free. Repeated calls do nothing.
pub(crate) fn prepare() {
    // Models do not fork.
    #[cfg(not(loom))]
    dyntrace_probes::forks::hold_across_forks!(Pool, pool());
}

impl Counters {
    /// # Errors
    ///
    /// The limit of versions is reached.
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

    /// The number of futures, borrowed handles and hooks that keep the version in use.
    pub(crate) fn holds(&self) -> usize {
        // Acquire: their owners' accesses precede the drop of each hold.
        self.holds.load(Ordering::Acquire)
    }
}

impl Drop for Counters {
    fn drop(&mut self) {
        debug_assert_eq!(self.holds.load(Ordering::Relaxed), 0, "holds keep their version alive");
        pool().free.push((self.place, self.holds));
    }
}
