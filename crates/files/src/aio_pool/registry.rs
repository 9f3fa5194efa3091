//! The shards of this process' pools, and the sums of those that have ended. A forked child does not touch its parent's pools, whose
//! threads it does not have, and begins with sums of its own.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dyntrace_probes::forks::{self, hold_across_forks};

use super::metrics::Metrics;
use super::shared::PoolShared;

struct Pools {
    /// A shard has ended when nothing but this list has it: no handle, no thread and no operation.
    living: Vec<Entry>,
    /// The sums of shards that have ended, and the count of forks when they were made.
    ended: Option<(u64, Metrics)>,
}

struct Entry {
    /// The count of forks when the shard was made.
    made: u64,
    shard: Arc<PoolShared>,
}

/// Always `std`'s lock: pools in loom's models are not registered.
fn pools() -> MutexGuard<'static, Pools> {
    static POOLS: Mutex<Pools> = Mutex::new(Pools { living: Vec::new(), ended: None });
    POOLS.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg_attr(loom, expect(dead_code))]
pub(super) fn add(shard: &Arc<PoolShared>) {
    // Without memory for the fork handler, the next pool tries again.
    let _ = forks::count();
    hold_across_forks!(Pools, pools());
    pools().living.push(Entry { made: forks::so_far(), shard: Arc::clone(shard) });
}

/// Returns the shards that have not ended.
pub(super) fn all() -> Vec<Arc<PoolShared>> {
    pools().own()
}

/// Returns the counts of all shards, also of those that have ended: a count never falls.
pub(super) fn metrics() -> Metrics {
    let (mut all, living) = {
        let mut pools = pools();
        // A shard that has ended and is in the list still is among the living ones here.
        let ended = pools.ended.as_ref().filter(|(made, _)| *made == forks::so_far());
        let ended = ended.map(|(_, sums)| sums.clone()).unwrap_or_default();
        (ended, pools.own())
    };
    // Nothing can end these shards meanwhile: `living` has them, too.
    living.iter().for_each(|shard| all.add(&shard.metrics()));
    leave(living);
    all
}

/// Gives shards up, and keeps the sums of those that end by it. A handle or a thread that ends calls this.
pub(super) fn leave(shards: impl IntoIterator<Item = Arc<PoolShared>>) {
    // Before the lock is taken: so the last caller finds no other owner.
    shards.into_iter().for_each(drop);
    let ended = pools().take_ended();
    // Without the lock: their destructors are the program's, too.
    drop(ended);
}

impl Pools {
    fn own(&mut self) -> Vec<Arc<PoolShared>> {
        let own = self.living.iter().filter(|entry| entry.made == forks::so_far());
        own.map(|entry| Arc::clone(&entry.shard)).collect()
    }

    /// Moves the counts of shards that have ended to the sums, and removes the shards: under one lock, so that each reader finds them once.
    fn take_ended(&mut self) -> Vec<Entry> {
        let now = forks::so_far();
        // `get_mut` acquires what other threads counted before they left.
        let ended: Vec<_> = self.living.extract_if(.., |entry| Arc::get_mut(&mut entry.shard).is_some()).collect();
        for Entry { shard, .. } in ended.iter().filter(|entry| entry.made == now) {
            let (made, sums) = self.ended.get_or_insert_default();
            if *made != now {
                (*made, *sums) = (now, Metrics::default());
            }
            sums.add_counters(&shard.metrics());
        }
        ended
    }
}

#[cfg(all(test, not(any(loom, miri))))]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread;

    use crate::aio_pool::{Counts, Fault, Job, Pool, Port, metrics};
    use crate::forked::in_child;

    /// Counts itself as an operation of a driver that no other test has.
    struct Counted(&'static str);

    impl Job for Counted {
        type Output = ();

        fn run(&mut self) {}

        fn count(&self, _: Option<&()>, counts: &mut Counts) {
            counts.add(self.0, "RUN", true, 1);
        }

        fn settle(&mut self, _: Result<&(), &Fault>) {}
    }

    fn counted(driver: &'static str) -> u64 {
        metrics().commands.iter().filter(|sums| sums.driver == driver).map(|sums| sums.operations).sum()
    }

    fn run_in_pool_without_threads(driver: &'static str, jobs: usize) {
        let pool = Pool::builder().threads(0).build();
        (0..jobs).for_each(|_| pool.submit_detached(Port::new(), Counted(driver)));
        while pool.run_one() {}
    }

    #[test]
    fn the_counts_of_pools_that_were_dropped_stay() {
        let jobs = metrics().fast.operations;
        let lasting = Pool::builder().threads(0).build();
        for round in 1..=3 {
            run_in_pool_without_threads("dropped", 5);
            assert_eq!(counted("dropped"), 5 * round);
        }
        assert!(metrics().fast.operations >= jobs + 15);
        assert!(metrics().fast.wait.count() >= 15);
        drop(lasting);
        assert_eq!(counted("dropped"), 15);
    }

    /// Readers find a pool that ends once: among those that live, or among the sums.
    #[test]
    fn counts_never_fall_while_pools_end() {
        const ROUNDS: u64 = 200;
        const JOBS: u64 = 20;
        let is_over = AtomicBool::new(false);
        thread::scope(|scope| {
            let readers = [(); 2].map(|()| {
                scope.spawn(|| {
                    let mut last = 0;
                    while !is_over.load(Ordering::Relaxed) {
                        let now = counted("ending");
                        assert!(now >= last, "{now} after {last}");
                        last = now;
                    }
                })
            });
            for _ in 0..ROUNDS {
                let pool = Pool::builder().threads(2).build();
                (0..JOBS).for_each(|_| pool.submit_detached(Port::new(), Counted("ending")));
                // Its threads run the jobs, and end.
            }
            while counted("ending") < ROUNDS * JOBS && !readers.iter().any(|reader| reader.is_finished()) {
                thread::yield_now();
            }
            is_over.store(true, Ordering::Relaxed);
        });
        assert_eq!(counted("ending"), ROUNDS * JOBS);
    }

    #[test]
    fn a_forked_child_begins_anew() {
        run_in_pool_without_threads("forked", 3);
        in_child(|| {
            let inherited = counted("forked");
            run_in_pool_without_threads("forked", 2);
            assert_eq!((inherited, counted("forked")), (0, 2));
        });
        assert_eq!(counted("forked"), 3);
    }
}
