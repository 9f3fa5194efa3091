//! The shards of this process' pools. A forked child does not touch its parent's pools, whose threads it does not have.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use super::shared::PoolShared;
use crate::forks::{self, hold_across_forks};

/// Each with the count of forks when it was made.
type Pools = Vec<(u64, Weak<PoolShared>)>;

/// Always `std`'s lock: pools in loom's models are not registered.
fn pools() -> MutexGuard<'static, Pools> {
    static POOLS: Mutex<Pools> = Mutex::new(Vec::new());
    POOLS.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg_attr(loom, expect(dead_code))]
pub(super) fn add(pool: &Arc<PoolShared>) {
    // Without memory for the fork handler, the next pool tries again.
    let _ = forks::count();
    hold_across_forks!(Pools, pools());
    let mut pools = pools();
    pools.retain(|(_, pool)| pool.strong_count() > 0);
    pools.push((forks::so_far(), Arc::downgrade(pool)));
}

pub(super) fn all() -> Vec<Arc<PoolShared>> {
    let pools = pools().clone();
    pools.iter().filter(|(made, _)| *made == forks::so_far()).filter_map(|(_, pool)| pool.upgrade()).collect()
}
