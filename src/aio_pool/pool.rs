//! The pool's handle: what its users call.

use std::fmt;
use std::sync::Arc;

use super::builder::Builder;
use super::clock::Time;
use super::metrics::Metrics;
use super::operation::{Cell, Operation};
use super::port::Port;
use super::shared::{Entry, Shared};
use super::work::Work;

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
        let lane = work.lane();
        let cell = Cell::awaited(work);
        let shared = &self.handle.shared;
        let ticket = shared.add(Entry { port, lane, submitted: Time::now(), job: cell.clone() });
        Operation::new(cell, ticket.map(|ticket| (Arc::clone(shared), ticket)))
    }

    /// The same for a work that nobody awaits: it is settled by the I/O thread, or here if it is refused. Does not block.
    ///
    /// As nobody awaits it, nothing slows down who submits too many: the line grows.
    #[inline(always)]
    pub fn submit_detached<W: Work>(&self, port: Port, work: W) {
        let lane = work.lane();
        self.handle.shared.add(Entry { port, lane, submitted: Time::now(), job: Cell::detached(work) });
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
    register::each(|shared| all.add(&shared.metrics()));
    all
}

/// The pools of the process. `std`'s lock always: loom's models have pools of their own.
mod register {
    use std::sync::{Arc, Mutex, PoisonError, Weak};

    use super::Shared;

    static POOLS: Mutex<Vec<Weak<Shared>>> = Mutex::new(Vec::new());

    #[cfg_attr(loom, expect(dead_code))]
    pub fn add(pool: &Arc<Shared>) {
        let mut pools = POOLS.lock().unwrap_or_else(PoisonError::into_inner);
        pools.retain(|pool| pool.strong_count() > 0);
        pools.push(Arc::downgrade(pool));
    }

    pub fn each(look: impl FnMut(Arc<Shared>)) {
        let pools = POOLS.lock().unwrap_or_else(PoisonError::into_inner).clone();
        pools.iter().filter_map(Weak::upgrade).for_each(look);
    }
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool").finish_non_exhaustive()
    }
}
