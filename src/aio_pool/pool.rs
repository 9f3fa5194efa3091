//! The pool's handle: what its users call.

use std::fmt;
use std::sync::Arc;

use super::builder::Builder;
use super::clock::Time;
#[cfg(not(any(loom, miri)))]
use super::ending;
use super::metrics::Metrics;
use super::operation::{Cell, Operation};
use super::port::Port;
use super::promises::Promise;
use super::register;
use super::shared::{Entry, Shared};
use super::work::Work;
use super::worker::promise;

/// A pool of I/O threads. Cloning gives another handle of the same pool.
///
/// When the last handle is dropped, the threads do what is queued and in line, then end; nobody waits for them. In a pool
/// without threads, what is queued is answered with [`Fault::ShutDown`](super::Fault::ShutDown).
#[derive(Clone)]
pub struct Pool {
    handle: Arc<Handle>,
}

/// One for all clones of a pool. The threads and the operations share what is in it, but do not keep the pool open.
struct Handle {
    shared: Arc<Shared>,
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.shared.close();
    }
}

impl Pool {
    /// Settings for a new pool.
    pub fn builder() -> Builder {
        Builder::new()
    }

    pub(super) fn new(shared: Arc<Shared>) -> Self {
        #[cfg(not(loom))]
        register::add(&shared);
        #[cfg(not(any(loom, miri)))]
        ending::notice_exit();
        Pool { handle: Arc::new(Handle { shared }) }
    }

    /// Hands a work to the I/O threads, on behalf of a port. Does not block.
    ///
    /// The work is on its way when this returns: in a queue, or in line if the queues are full. How it comes out is told
    /// by the operation, and that is also where a work is refused, with [`Fault::ShutDown`] or [`Fault::NoThread`].
    ///
    /// [`Fault::ShutDown`]: super::Fault::ShutDown
    /// [`Fault::NoThread`]: super::Fault::NoThread
    pub fn submit<W: Work>(&self, port: Port, work: W) -> Operation<W> {
        let (lane, taken) = (work.lane(), work.taken());
        let cell = Cell::awaited(work);
        let shared = &self.handle.shared;
        let ticket = shared.add(Entry { port, lane, taken, submitted: Time::now(), job: cell.clone(), promise: None });
        Operation::new(cell, ticket.map(|ticket| (Arc::clone(shared), ticket)))
    }

    /// The same for a work that nobody awaits: it is settled by the I/O thread, or here if it is refused. Does not block.
    ///
    /// There is no backpressure: the line grows.
    ///
    /// The work is a promise: the end of the tokio runtime that the caller is in, and the normal exit of the process, wait until
    /// it has ended, for [`Builder::exit_timeout`] at most.
    #[inline(always)]
    pub fn submit_detached<W: Work>(&self, port: Port, work: W) {
        self.detach(port, work, Some(promise()));
    }

    /// The same for a work that nobody misses: no runtime and no exit waits for it.
    pub(crate) fn submit_optional<W: Work>(&self, port: Port, work: W) {
        self.detach(port, work, None);
    }

    #[inline(always)]
    fn detach<W: Work>(&self, port: Port, work: W, promise: Option<Promise>) {
        let (lane, taken) = (work.lane(), work.taken());
        let (submitted, job) = (Time::now(), Cell::detached(work));
        self.handle.shared.add(Entry { port, lane, taken, submitted, job, promise });
    }

    /// Takes one job out of the queues and does it on this thread. `false` if there was none.
    ///
    /// For pools without threads: single-threaded programs, and tests that go step by step. A job whose operation was
    /// dropped meanwhile counts as one, though nothing is left of it to do.
    pub fn run_one(&self) -> bool {
        self.handle.shared.run_one()
    }

    /// What the pool has done and does.
    pub fn metrics(&self) -> Metrics {
        self.handle.shared.metrics()
    }

    /// Ends the pool, for all its handles: works that run go on to their end, works in the queues or in line are answered
    /// with [`Fault::ShutDown`](super::Fault::ShutDown), and so is from now on whatever is submitted.
    ///
    /// Blocks until the works that run have ended and the I/O threads are gone: in async code, call it where blocking is
    /// allowed. On one of the pool's own threads (in a work) it does not wait. A second call waits as the first does.
    pub fn shutdown(&self) {
        self.handle.shared.shut_down();
    }
}

/// What all pools of the process together have done and do.
///
/// What a pool that is gone had done is gone with it.
pub fn metrics() -> Metrics {
    let mut all = Metrics::default();
    register::all().iter().for_each(|shared| all.add(&shared.metrics()));
    all
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool").finish_non_exhaustive()
    }
}
