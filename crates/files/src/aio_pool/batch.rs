//! The jobs that a worker has taken out of the queues and not started yet.
//!
//! A worker takes several short jobs at once, so that it and the submitting threads take the pool's lock once for all of them. A batch
//! has a lock of its own, in a cache line that stays with the worker. Other threads take it only to return the jobs to the queue: the
//! watchdog, for a blocked worker, and shutdown. They hold the pool's lock then, as does the worker when it fills its batch.

use std::collections::VecDeque;

use dyntrace_probes::primitives::{Mutex, lock};

pub(super) struct Batch<J>(Mutex<VecDeque<J>>);

impl<J> Batch<J> {
    pub fn new() -> Self {
        Batch(Mutex::new(VecDeque::new()))
    }

    pub fn pop(&self) -> Option<J> {
        lock(&self.0).pop_front()
    }

    /// Moves the first `count` of `jobs` to the end of the batch.
    pub fn fill(&self, jobs: &mut VecDeque<J>, count: usize) {
        let mut batch = lock(&self.0);
        match count == jobs.len() {
            true => batch.append(jobs),
            false => batch.extend(jobs.drain(..count)),
        }
    }

    /// Removes all jobs, the last one first: the order in which a caller pushes them to the front of a queue.
    pub fn give_back(&self) -> impl Iterator<Item = J> + use<J> {
        std::mem::take(&mut *lock(&self.0)).into_iter().rev()
    }

    /// Calls `each` for each job. Under the lock: `each` must be short.
    pub fn for_each(&self, each: impl FnMut(&J)) {
        lock(&self.0).iter().for_each(each);
    }

    pub fn length(&self) -> usize {
        lock(&self.0).len()
    }
}

#[cfg(all(test, loom))]
mod models {
    use std::sync::Arc;

    use dyntrace_probes::primitives::thread;

    use super::*;

    /// A worker pops jobs while another thread returns them: each job goes to one of the two, in order.
    #[test]
    fn loom_batch_each_job_goes_one_way() {
        loom::model(|| {
            let batch = Arc::new(Batch::new());
            batch.fill(&mut VecDeque::from([1, 2, 3]), 3);
            let other = Arc::clone(&batch);
            let given_back = thread::spawn(move || other.give_back().collect::<Vec<_>>());
            let mut taken: Vec<_> = std::iter::from_fn(|| batch.pop()).collect();
            taken.extend(given_back.join().unwrap().into_iter().rev());
            assert_eq!(taken, [1, 2, 3]);
        });
    }
}
