//! Starts the threads of a pool.

use std::io;
use std::sync::Arc;

use dyntrace_probes::primitives::Condvar;

use super::blocking::KernelThread;
use super::completions::Completions;
use super::lane::Lane;
use super::queue::WorkerState;
use super::shared::{LaneState, PoolShared, PoolState, Worker, WorkerSlot};
use super::{registry, watchdog, worker};

impl PoolShared {
    /// Starts one more worker, and before the first one the watchdog. Returns `None` if the lane may not have one more.
    ///
    /// The lock is held meanwhile: a pool starts few threads, and so a worker and its queue appear together.
    pub fn start_worker(self: &Arc<Self>, state: &mut PoolState, lane: Lane) -> io::Result<Option<WorkerSlot>> {
        if !self.is_wanted(state, lane) {
            return Ok(None);
        }
        let is_extra = self.is_beyond_base(state, lane, 0);
        if is_extra && !self.settings.extra.take() {
            return Ok(None);
        }
        let started = self.start(state, lane);
        if is_extra && started.is_err() {
            self.settings.extra.give_back();
        }
        started.map(Some)
    }

    fn start(self: &Arc<Self>, state: &mut PoolState, lane: Lane) -> io::Result<WorkerSlot> {
        self.starts_here();
        if !state.watchdog.is_started {
            let shared = Arc::clone(self);
            // Not "watchdog": the kernel cuts names after 15 bytes.
            let run = Box::new(move || {
                watchdog::run(&shared);
                registry::leave([shared]);
            });
            let watchdog = (self.settings.spawn)("dyntrace-watch".to_owned(), run)?;
            state.threads.push(watchdog.thread().id());
            state.watchdog.is_started = true;
        }
        let free = state.watchdog.thread.filter(|_| worker::is_worker());
        let (queue, batch) = state.lane(lane).queues.vacant();
        let slot = WorkerSlot { lane, queue };
        let (condvar, completions) = (Arc::new(Condvar::new()), Arc::new(Completions::new()));
        let run = {
            let (shared, condvar, completions) = (Arc::clone(self), Arc::clone(&condvar), Arc::clone(&completions));
            move || {
                // The worker that started this one may be bound.
                if let Some(free) = free {
                    KernelThread::current().release(free);
                }
                worker::run(&shared, slot, &condvar, &batch, &completions);
                registry::leave([shared]);
            }
        };
        let handle = (self.settings.spawn)(format!("{}-{}", lane.threads_name(), queue + 1), Box::new(run))?;
        state.threads.push(handle.thread().id());
        let LaneState { queues, workers, .. } = state.lane(lane);
        queues.set_state(queue, WorkerState::Woken);
        let worker = Worker { condvar, completions, thread: None, processor: None };
        match workers.get_mut(queue) {
            Some(gone) => *gone = worker,
            None => workers.push(worker),
        }
        Ok(slot)
    }

    /// A lane wants its base workers, blocked ones not counted, and extra ones while most of its jobs block. A pool without threads
    /// starts none.
    fn is_wanted(&self, state: &mut PoolState, lane: Lane) -> bool {
        let LaneState { queues, pace, .. } = state.lane(lane);
        self.settings.threads > 0 && (queues.available() < self.base_workers(lane) || pace.is_blocking())
    }
}
