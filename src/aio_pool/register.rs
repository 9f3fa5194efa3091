//! The pools of this process. A forked child does not touch those of its parent, whose threads it does not have.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use super::shared::Shared;
use crate::forks::{self, hold_across_forks};

/// With the count of forks when it was made.
type Pools = Vec<(u64, Weak<Shared>)>;

/// `std`'s lock always: loom's models have pools of their own.
fn pools() -> MutexGuard<'static, Pools> {
    static POOLS: Mutex<Pools> = Mutex::new(Vec::new());
    POOLS.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg_attr(loom, expect(dead_code))]
pub(super) fn add(pool: &Arc<Shared>) {
    // If there is no memory for it, the next pool does it.
    let _ = forks::count();
    hold_across_forks!(Pools, pools());
    let mut pools = pools();
    pools.retain(|(_, pool)| pool.strong_count() > 0);
    pools.push((forks::so_far(), Arc::downgrade(pool)));
}

pub(super) fn all() -> Vec<Arc<Shared>> {
    let pools = pools().clone();
    pools.iter().filter(|(made, _)| *made == forks::so_far()).filter_map(|(_, pool)| pool.upgrade()).collect()
}
