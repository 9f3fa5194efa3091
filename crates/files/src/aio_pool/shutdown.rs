//! How a shard ends, and how threads wait for its promises.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use dyntrace_probes::primitives::{lock, thread, wait, wait_timeout};

use super::job::Fault;
use super::lane::Lane;
use super::promises::Scope;
use super::shared::{Phase, PoolShared, PoolState};
use dyntrace_processes::probes::aio_pool as probes;

impl PoolShared {
    /// The last handle is gone. Workers still run the queued jobs, if there are any workers.
    pub fn close(&self) {
        let threads = lock(&self.state).threads.len();
        self.end(Phase::Closing, threads == 0);
    }

    /// Refuses all queued jobs, and those to come.
    pub fn shut_down(&self) {
        self.end(Phase::ShutDown, true);
    }

    /// Returns whether the current thread is one of the shard's.
    pub fn is_own_thread(&self) -> bool {
        lock(&self.state).threads.contains(&thread::current().id())
    }

    /// Waits until all threads have ended. They end only after a call of `close` or `shut_down`.
    pub fn join(&self) {
        let mut state = lock(&self.state);
        while !state.threads.is_empty() {
            state = wait(&self.ended, state);
        }
    }

    fn end(&self, phase: Phase, refuse: bool) {
        let mut state = lock(&self.state);
        if state.phase != Phase::ShutDown {
            state.phase = phase;
        }
        let (mut queued, mut waiting) = (Vec::new(), Vec::new());
        if refuse {
            for lane in Lane::ALL {
                queued.extend(state.lane(lane).queues.drain().into_iter().map(|(job, length)| (job, length, lane)));
            }
            waiting.extend(std::iter::from_fn(|| state.waiting.pop()));
            for job in queued.iter().map(|(job, ..)| job).chain(&waiting) {
                self.fulfil(&mut state, job.promise);
            }
            self.not_busy(&mut state);
        }
        let workers = state.lanes.iter().flat_map(|lane| &lane.workers).map(|worker| Arc::clone(&worker.condvar));
        let sleepers: Vec<_> = workers.chain([Arc::clone(&self.watchdog)]).collect();
        drop(state);
        for sleeper in sleepers {
            sleeper.notify_one();
        }
        for (job, length, lane) in queued {
            probes::get(|| {
                job.taken.apply();
                (job.port, length as i32, lane.number())
            });
            job.runnable.refuse(Fault::ShutDown);
        }
        for job in waiting {
            job.runnable.refuse(Fault::ShutDown);
        }
    }

    /// Waits until the promises in `scope` are fulfilled, until `exit_timeout` after `began` at most. Returns how many are open. Does not
    /// wait in a pool without threads, nor on one of the shard's own threads.
    pub fn await_promises(&self, scope: Scope, began: Instant) -> usize {
        let mut state = lock(&self.state);
        if self.settings.threads == 0 {
            return 0;
        }
        if let Scope::Process = scope {
            state.promises.close();
        }
        self.promise_waiters.fetch_add(1, Ordering::Relaxed);
        let left = loop {
            let PoolState { lanes, promises, .. } = &mut *state;
            for worker in lanes.iter().flat_map(|lane| &lane.workers) {
                worker.completions.report_promises(|promise| promises.fulfil(promise));
            }
            let left = promises.open(scope);
            // `thread::current` only if this has to wait: it registers a destructor in the thread. If this code is in a library that is
            // being unloaded, the destructor's code would be unmapped when the thread ends.
            if left == 0 || state.threads.contains(&thread::current().id()) {
                break 0;
            }
            let rest = self.settings.exit_timeout.saturating_sub(began.elapsed());
            if rest.is_zero() {
                break left;
            }
            state = wait_timeout(&self.fulfilled, state, rest).0;
        };
        self.promise_waiters.fetch_sub(1, Ordering::Relaxed);
        left
    }

    /// Returns whether any promise in `scope` is not known to be fulfilled.
    pub fn has_open_promises(&self, scope: Scope) -> bool {
        lock(&self.state).promises.open(scope) > 0
    }
}
