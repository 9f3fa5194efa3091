//! Runs the jobs of a pool without threads, one at a time.

use std::mem;
use std::sync::Arc;

use dyntrace_probes::primitives::lock;

use super::clock::Time;
use super::counts::Counts;
use super::delivery::TaskWaker;
use super::lane::Lane;
use super::shared::{Notification, PoolShared, QueuedJob, WorkerSlot};
use super::worker;

impl PoolShared {
    /// Runs one job on this thread. Returns `false` if there is none.
    pub fn run_one(self: &Arc<Self>) -> bool {
        let Some((job, mut counts)) = self.take_one() else { return false };
        let QueuedJob { lane, changes, promise, .. } = job;
        // Directly: this pool has no watchdog.
        let waker = worker::run_job(job, &mut counts);
        let mut state = lock(&self.state);
        state.lane(lane).queues.ended(changes);
        counts.move_to(&mut state.counts);
        state.stepping_counts = counts;
        if promise.is_some() {
            self.fulfil(&mut state, promise);
        }
        drop(state);
        waker.into_iter().for_each(TaskWaker::wake);
        true
    }

    /// Takes the next job, which starts at once. Lends the counts of such jobs, which a job that steps the pool itself finds lent already.
    // A function of its own: inlined, its loop would have fewer registers.
    #[inline(never)]
    fn take_one(self: &Arc<Self>) -> Option<(QueuedJob, Counts)> {
        Lane::ALL.into_iter().find_map(|lane| {
            let slot = WorkerSlot { lane, queue: 0 };
            let mut state = lock(&self.state);
            let (jobs, _, notifications) = self.take(&mut state, slot, 1, 1, Time::now());
            let batch = (jobs > 0).then(|| (state.lane(lane).queues.batch(0), mem::take(&mut state.stepping_counts)));
            drop(state);
            if let Some(notifications) = notifications {
                notifications.into_iter().for_each(Notification::send);
            }
            let (batch, counts) = batch?;
            let job = batch.pop()?;
            worker::tell_taken(self, slot, &job);
            Some((job, counts))
        })
    }
}
