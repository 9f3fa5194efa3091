//! The handle of a pool.

use std::fmt;
use std::sync::Arc;

use dyntrace_probes::forks;

use super::admission_queue::Ticket;
use super::answered::Answer;
use super::builder::Builder;
use super::clock::Time;
use super::ending;
use super::job::{Fault, Job};
use super::metrics::Metrics;
use super::operation::{Operation, OperationCell};
use super::port::Port;
use super::promises::Promise;
use super::registry;
use super::runtimes;
use super::shards::Shards;
use super::shared::{PoolShared, QueuedJob};
use super::worker::{self, promise};

/// A pool of I/O threads. A clone is another handle of the same pool.
///
/// When the last handle is dropped, the threads run all queued and waiting jobs, then end; the drop does not wait for them. In a pool
/// without threads, queued jobs fail with [`Fault::ShutDown`].
///
/// # Forks
///
/// A pool whose threads have started belongs to the process that started them. In a forked child it refuses each job with
/// [`Fault::ShutDown`] and counts nothing: make another pool there. An [`Operation`] that was submitted before the fork may wait for ever
/// in the child, also when it is dropped: pass it to [`std::mem::forget`]. A pool that has started no thread works in both processes, each
/// with a copy of the queued jobs, if no other thread was in a call of it at the fork. Files need none of this: the file driver gives a forked child a pool of its own.
#[derive(Clone)]
pub struct Pool {
    handle: Arc<Handle>,
}

/// Shared by all clones of a pool. Threads and operations share the shards too, but do not keep the pool open.
struct Handle {
    shards: Shards,
    /// The count of forks when the pool was made.
    made: u64,
}

impl Handle {
    /// Returns whether the threads are another process's: then a lock of a shard may be held for ever.
    #[inline]
    fn is_of_parent(&self) -> bool {
        self.made != forks::so_far() && self.shards.have_started_elsewhere()
    }

    /// Submits a job, or refuses it in a forked child.
    #[inline(always)]
    fn submit(&self, job: QueuedJob) -> Option<(Arc<PoolShared>, Ticket)> {
        if self.is_of_parent() {
            job.runnable.refuse(Fault::ShutDown);
            return None;
        }
        self.shards.submit(job)
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        match self.is_of_parent() {
            true => self.shards.leak(),
            false => self.shards.close(),
        }
    }
}

impl Pool {
    /// Returns the default settings for a new pool.
    pub fn builder() -> Builder {
        Builder::new()
    }

    pub(super) fn new(shards: Shards) -> Self {
        #[cfg(not(loom))]
        shards.all().iter().for_each(registry::add);
        #[cfg(not(any(loom, miri)))]
        ending::notice_exit();
        Pool { handle: Arc::new(Handle { shards, made: forks::so_far() }) }
    }

    /// Submits a job to the I/O threads, on behalf of `port`. Does not block.
    ///
    /// When this returns, the job is in a queue or, if the queues are full, waits for room. The returned operation gives the outcome,
    /// also if the pool refuses the job: with [`Fault::ShutDown`] or [`Fault::NoThread`].
    pub fn submit<J: Job>(&self, port: Port, job: J) -> Operation<J> {
        let (lane, changes, taken) = (job.lane(), job.changes(), job.taken());
        let caller = worker::caller(&job);
        let cell = OperationCell::awaited(job);
        let waiting = self.handle.submit(QueuedJob {
            port,
            lane,
            changes,
            caller,
            processor: None,
            taken,
            submitted: Time::now(),
            runnable: cell.clone(),
            promise: None,
        });
        Operation::new(cell, waiting)
    }

    /// Submits a job that is not awaited. The I/O thread settles it, or this call if the pool refuses it.
    ///
    /// There is no backpressure: the number of waiting jobs grows without bound.
    ///
    /// The end of the tokio runtime that the caller is in, and the normal exit of the process, wait until the job has ended, for
    /// [`Builder::exit_timeout`] at most. A task of a runtime with several threads that is polled while the runtime already ends waits here
    /// itself, as the end can no longer wait for it. Otherwise this does not block.
    #[inline(always)]
    pub fn submit_detached<J: Job>(&self, port: Port, job: J) {
        self.detach(port, job, Some(promise()));
        // Step 3 of the end of a runtime.
        if let Some(runtime) = runtimes::ended() {
            ending::of_runtime(runtime);
        }
    }

    /// As [`submit_detached`](Pool::submit_detached), but neither a runtime nor the exit waits for the job.
    pub(crate) fn submit_optional<J: Job>(&self, port: Port, job: J) {
        self.detach(port, job, None);
    }

    #[inline(always)]
    fn detach<J: Job>(&self, port: Port, job: J, promise: Option<Promise>) {
        let (lane, changes, taken) = (job.lane(), job.changes(), job.taken());
        let (caller, processor) = (worker::caller(&job), None);
        let (submitted, runnable) = (Time::now(), OperationCell::detached(job));
        self.handle.submit(QueuedJob { port, lane, changes, caller, processor, taken, submitted, runnable, promise });
    }

    /// Counts an operation that its driver answered without a job. `command` is the command's number, below 16.
    #[inline]
    pub(crate) fn count_answer(&self, command: usize, thread: usize, answer: &Answer) {
        self.handle.shards.first().answered.count(command, thread, answer);
    }

    /// Takes one job out of the queues and runs it on this thread. Returns `false` if there was none.
    ///
    /// For pools without threads: single-threaded programs, and tests that go step by step. A cancelled job counts as one, although it
    /// does not run.
    pub fn run_one(&self) -> bool {
        !self.handle.is_of_parent() && self.handle.shards.first().run_one()
    }

    /// Returns the counts of this pool.
    pub fn metrics(&self) -> Metrics {
        if self.handle.is_of_parent() {
            return Metrics::default();
        }
        self.handle.shards.metrics()
    }

    /// Shuts the pool down, for all its handles: running jobs run to their end, queued and waiting jobs fail with
    /// [`Fault::ShutDown`], and so do all jobs submitted later.
    ///
    /// Blocks until the running jobs and the I/O threads have ended: in async code, call it where blocking is allowed. On one of the
    /// pool's own threads (in a job) it does not wait. A second call waits as the first does.
    pub fn shutdown(&self) {
        if !self.handle.is_of_parent() {
            self.handle.shards.shut_down();
        }
    }
}

/// Returns the counts of all pools of the process together. Sums never fall: those of pools that were dropped are among them. A forked
/// child begins anew.
pub fn metrics() -> Metrics {
    registry::metrics()
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool").finish_non_exhaustive()
    }
}
