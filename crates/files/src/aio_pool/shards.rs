//! The shards of a pool: each has a lock, queues and threads of its own.
//!
//! A job takes its lock twice, when it is submitted and when a worker takes it. With a job every few microseconds from each core, one lock
//! would be passed from core to core all the time: by the simulation of `ci/bench scale`, 64 cores would do a seventh of 64 times the jobs
//! of one. So no more than [`THREADS`] workers of the fast lane share a lock. A thread submits its jobs to the same shard, except that all
//! changes of one directory go to one shard.

use std::io;
use std::mem;
use std::sync::Arc;

use super::admission_queue::Ticket;
use super::job::Fault;
use super::metrics::Metrics;
use super::registry;
use super::shared::{PoolShared, QueuedJob, Settings};
use dyntrace_processes::process;

/// The most workers of the fast lane in a shard.
const THREADS: usize = 8;

/// The shards of one pool, at least one.
pub(super) struct Shards(Box<[Arc<PoolShared>]>);

impl Shards {
    /// Makes the shards of a pool with `threads` threads, whose queues hold at most `bound` jobs together. `settings` gets both numbers of each
    /// shard.
    pub fn new(threads: usize, bound: usize, settings: impl Fn(usize, usize) -> Settings) -> Shards {
        let count = threads.div_ceil(THREADS).clamp(1, bound);
        let part = |whole: usize, shard: usize| whole / count + usize::from(shard < whole % count);
        let shard = |shard| Arc::new(PoolShared::new(settings(part(threads, shard), part(bound, shard))));
        Shards((0..count).map(shard).collect())
    }

    pub fn all(&self) -> &[Arc<PoolShared>] {
        &self.0
    }

    /// Submits a job to the current thread's shard, or that of the directory that it changes. If that has no thread and the system gives it
    /// none, another one gets the job; if all are without, the job is refused. Returns the shard and a ticket if the job waits for room.
    #[inline]
    pub fn submit(&self, job: QueuedJob) -> Option<(Arc<PoolShared>, Ticket)> {
        let here = self.home(&job);
        match here.submit(job) {
            Ok(ticket) => ticket.map(|ticket| (Arc::clone(here), ticket)),
            Err((job, error)) => self.submit_elsewhere(here, job, error),
        }
    }

    #[cold]
    fn submit_elsewhere(
        &self,
        here: &Arc<PoolShared>,
        mut job: QueuedJob,
        mut error: io::Error,
    ) -> Option<(Arc<PoolShared>, Ticket)> {
        for shard in self.0.iter().filter(|shard| !Arc::ptr_eq(shard, here)) {
            match shard.submit(job) {
                Ok(ticket) => return ticket.map(|ticket| (Arc::clone(shard), ticket)),
                Err(refused) => (job, error) = refused,
            }
        }
        job.runnable.refuse(Fault::NoThread(error));
        None
    }

    fn home(&self, job: &QueuedJob) -> &Arc<PoolShared> {
        match &*self.0 {
            [only] => only,
            several => {
                let number = job.changes.any().unwrap_or_else(|| process::thread_number() as usize);
                &several[number % several.len()]
            }
        }
    }

    /// The only shard of a pool without threads. Of other pools also the one that counts what needs no lock.
    pub fn first(&self) -> &Arc<PoolShared> {
        &self.0[0]
    }

    /// As [`PoolShared::has_started_elsewhere`], of any shard.
    #[cold]
    pub fn have_started_elsewhere(&self) -> bool {
        self.0.iter().any(|shard| shard.has_started_elsewhere())
    }

    /// Keeps the shards for ever, and touches none: they are the parent's, and this is its forked child.
    pub fn leak(&mut self) {
        mem::forget(mem::take(&mut self.0));
    }

    /// The last handle is gone. Only the shards' threads and operations still have them.
    pub fn close(&mut self) {
        self.0.iter().for_each(|shard| shard.close());
        registry::leave(mem::take(&mut self.0));
    }

    /// Shuts all shards down, and waits for their threads unless this is one of them.
    pub fn shut_down(&self) {
        self.0.iter().for_each(|shard| shard.shut_down());
        if !self.0.iter().any(|shard| shard.is_own_thread()) {
            self.0.iter().for_each(|shard| shard.join());
        }
    }

    pub fn metrics(&self) -> Metrics {
        let mut all = Metrics::default();
        self.0.iter().for_each(|shard| all.add(&shard.metrics()));
        all
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::aio_pool::extra_threads::ExtraThreads;

    #[test]
    fn threads_and_the_bound_are_shared_out() {
        let shards = |threads, bound| {
            let shards = Shards::new(threads, bound, |threads, bound| Settings {
                threads,
                extra: Arc::new(ExtraThreads::new(0)),
                bound,
                keep_alive: Duration::ZERO,
                exit_timeout: Duration::ZERO,
                spawn: Arc::new(|_, _| unreachable!("nothing is submitted")),
            });
            shards.all().iter().map(|shard| (shard.settings.threads, shard.settings.bound)).collect::<Vec<_>>()
        };
        assert_eq!(shards(0, 1024), [(0, 1024)]);
        assert_eq!(shards(8, 1024), [(8, 1024)]);
        assert_eq!(shards(9, 1024), [(5, 512), (4, 512)]);
        assert_eq!(shards(64, 1025), [[(8, 129)].as_slice(), &[(8, 128); 7]].concat());
        assert_eq!(shards(64, 2), [(32, 1); 2], "each shard can hold a job");
    }
}
