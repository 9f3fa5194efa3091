//! The ports with the most jobs that have not started.

use std::collections::HashMap;

use super::port::Port;
use super::registry;
use super::shared::PoolShared;
use crate::primitives::lock;

/// The ports for which more than `limit` jobs wait, in queues or for room in them, each with their number. A pool with no more jobs than
/// that is not searched; another one is locked while all its jobs are counted.
pub(crate) fn longer_than(limit: usize) -> Vec<(Port, usize)> {
    registry::all().iter().flat_map(|pool| longer_in(pool, limit)).collect()
}

fn longer_in(pool: &PoolShared, limit: usize) -> Vec<(Port, usize)> {
    let mut lengths: HashMap<Port, usize> = HashMap::new();
    let state = lock(&pool.state);
    let jobs = state.lanes.iter().map(|lane| lane.queues.waiting()).sum::<usize>() + state.waiting.length();
    if jobs > limit {
        for lane in &state.lanes {
            lane.queues.for_each(|job| *lengths.entry(job.port).or_default() += 1);
        }
        state.waiting.iter().for_each(|job| *lengths.entry(job.port).or_default() += 1);
    }
    drop(state);
    lengths.into_iter().filter(|(_, length)| *length > limit).collect()
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
}
