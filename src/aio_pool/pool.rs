//! The handle of a pool.

use std::fmt;
use std::sync::Arc;

use super::answered::Answer;
use super::builder::Builder;
use super::clock::Time;
use super::ending;
use super::job::Job;
use super::metrics::Metrics;
use super::operation::{Operation, OperationCell};
use super::port::Port;
use super::promises::Promise;
use super::registry;
use super::runtimes;
use super::shards::Shards;
use super::shared::QueuedJob;
use super::worker::promise;

/// A pool of I/O threads. A clone is another handle of the same pool.
///
/// When the last handle is dropped, the threads run all queued and waiting jobs, then end; the drop does not wait for them. In a pool
/// without threads, queued jobs fail with [`Fault::ShutDown`](super::Fault::ShutDown).
#[derive(Clone)]
pub struct Pool {
    handle: Arc<Handle>,
}

/// Shared by all clones of a pool. Threads and operations share the shards too, but do not keep the pool open.
struct Handle {
    shards: Shards,
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.shards.all().iter().for_each(|shard| shard.close());
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
        Pool { handle: Arc::new(Handle { shards }) }
    }

    /// Submits a job to the I/O threads, on behalf of `port`. Does not block.
    ///
    /// When this returns, the job is in a queue or, if the queues are full, waits for room. The returned operation gives the outcome,
    /// also if the pool refuses the job: with [`Fault::ShutDown`] or [`Fault::NoThread`].
    ///
    /// [`Fault::ShutDown`]: super::Fault::ShutDown
    /// [`Fault::NoThread`]: super::Fault::NoThread
    pub fn submit<J: Job>(&self, port: Port, job: J) -> Operation<J> {
        let (lane, taken) = (job.lane(), job.taken());
        let cell = OperationCell::awaited(job);
        let waiting = self.handle.shards.submit(QueuedJob {
            port,
            lane,
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
        let (lane, taken) = (job.lane(), job.taken());
        let (submitted, runnable) = (Time::now(), OperationCell::detached(job));
        self.handle.shards.submit(QueuedJob { port, lane, taken, submitted, runnable, promise });
    }

    /// Counts an operation that its driver answered without a job. `command` is the command's number, below 8.
    #[inline]
    pub(crate) fn count_answer(&self, command: usize, thread: usize, answer: &Answer) {
        self.handle.shards.first().answered.count(command, thread, answer);
    }

    /// Takes one job out of the queues and runs it on this thread. Returns `false` if there was none.
    ///
    /// For pools without threads: single-threaded programs, and tests that go step by step. A cancelled job counts as one, although it
    /// does not run.
    pub fn run_one(&self) -> bool {
        self.handle.shards.first().run_one()
    }

    /// Returns the counts of this pool.
    pub fn metrics(&self) -> Metrics {
        self.handle.shards.metrics()
    }

    /// Shuts the pool down, for all its handles: running jobs run to their end, queued and waiting jobs fail with
    /// [`Fault::ShutDown`](super::Fault::ShutDown), and so do all jobs submitted later.
    ///
    /// Blocks until the running jobs and the I/O threads have ended: in async code, call it where blocking is allowed. On one of the
    /// pool's own threads (in a job) it does not wait. A second call waits as the first does.
    pub fn shutdown(&self) {
        self.handle.shards.shut_down();
    }
}

/// Returns the counts of all pools of the process together, without pools that were dropped.
pub fn metrics() -> Metrics {
    let mut all = Metrics::default();
    registry::all().iter().for_each(|shard| all.add(&shard.metrics()));
    all
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool").finish_non_exhaustive()
    }
}
