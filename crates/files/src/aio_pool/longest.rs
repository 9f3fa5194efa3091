//! The ports with the most jobs that have not started.

use std::collections::HashMap;

use dyntrace_probes::primitives::lock;

use super::port::Port;
use super::registry;
use super::shared::PoolShared;

/// Returns the ports for which more than `limit` jobs wait, in queues or for room in them, each with the number of its jobs. Locks each
/// shard to read how many jobs wait; only if more than `limit` wait in all, locks each again to count them by port.
pub fn longer_than(limit: usize) -> Vec<(Port, usize)> {
    let shards = registry::all();
    if shards.iter().map(|shard| waiting_in(shard)).sum::<usize>() <= limit {
        return Vec::new();
    }
    let mut lengths: HashMap<Port, usize> = HashMap::new();
    for shard in shards {
        let state = lock(&shard.state);
        for lane in &state.lanes {
            lane.queues.for_each(|job| *lengths.entry(job.port).or_default() += 1);
        }
        state.waiting.iter().for_each(|job| *lengths.entry(job.port).or_default() += 1);
    }
    lengths.into_iter().filter(|(_, length)| *length > limit).collect()
}

fn waiting_in(shard: &PoolShared) -> usize {
    let state = lock(&shard.state);
    state.lanes.iter().map(|lane| lane.queues.waiting()).sum::<usize>() + state.waiting.length()
}

#[cfg(all(test, not(any(loom, miri))))]
mod tests {
    use std::sync::mpsc;

    use super::*;
    use crate::aio_pool::{Fault, Job, Pool};

    /// Waits until its sender is dropped.
    struct Waits(mpsc::Receiver<()>);

    impl Job for Waits {
        type Output = ();

        fn run(&mut self) {
            let _ = self.0.recv();
        }

        fn settle(&mut self, _: Result<&(), &Fault>) {}
    }

    #[test]
    fn jobs_in_queues_and_jobs_that_wait_for_room_count() {
        let pool = Pool::builder().threads(0).bound(2).build();
        let (long, short) = (Port::new(), Port::new());
        let mut releases = Vec::new();
        let mut submit = |port| {
            let (release, waits) = mpsc::channel();
            releases.push(release);
            pool.submit(port, Waits(waits))
        };
        let operations = [long, short, long, long].map(&mut submit);
        let lengths = |limit| {
            let own = longer_than(limit).into_iter().filter(|(port, _)| [long, short].contains(port));
            own.collect::<Vec<_>>()
        };
        assert!(lengths(3).is_empty());
        assert_eq!(lengths(2), [(long, 3)]);
        assert_eq!(lengths(0).len(), 2);
        drop(operations);
        drop(releases);
    }

    #[test]
    fn jobs_of_a_port_count_in_all_shards_together() {
        let pool = Pool::builder().threads(16).slow_threads(0).bound(16).build();
        let (port, all_there) = (Port::new(), std::sync::Barrier::new(4));
        let (mut operations, mut releases) = (Vec::new(), Vec::new());
        // Threads that live at the same time have different numbers: they are hardly of one shard.
        std::thread::scope(|scope| {
            let (pool, all_there) = (&pool, &all_there);
            let submitted = [(); 4].map(|()| {
                scope.spawn(move || {
                    all_there.wait();
                    let submit = |_| {
                        let (release, waits) = mpsc::channel();
                        (pool.submit(port, Waits(waits)), release)
                    };
                    (0..20).map(submit).collect::<Vec<_>>()
                })
            });
            for (operation, release) in submitted.into_iter().flat_map(|thread| thread.join().unwrap()) {
                operations.push(operation);
                releases.push(release);
            }
        });
        // At most 16 run in the shards' threads: of the others more wait than in one shard.
        let own: Vec<_> = longer_than(60).into_iter().filter(|(of, _)| *of == port).collect();
        assert!(matches!(own[..], [(_, 61..=80)]), "{own:?}");
        drop(releases);
        drop(operations);
    }
}
