//! Backpressure: operations wait while the pool's queues are full, and two probes fire when that begins and ends.
//!
//! The pool is busy from the first operation that finds the queues full until they have room and no operation waits. Otherwise each
//! job taken while operations wait would fire both probes.

use std::sync::Arc;

use dyntrace_probes::primitives::lock;

use super::admission_queue::Ticket;
use super::clock::Time;
use super::shared::{Notification, PoolShared, PoolState, QueuedJob, WorkerSlot};
use dyntrace_processes::probes::port;

impl PoolShared {
    /// Has a job wait for room. Both probes fire under the lock, so that traces have them in order.
    #[cold]
    #[inline(never)]
    pub fn wait_for_room(&self, state: &mut PoolState, job: QueuedJob) -> Ticket {
        if state.busy.is_none() {
            state.busy = Some(job.port);
            port::busy(|| job.port);
        }
        state.waiting.push(job)
    }

    /// Moves waiting jobs into the queues until those are full.
    #[cold]
    #[inline(never)]
    pub fn admit_waiting(self: &Arc<Self>, state: &mut PoolState, slot: WorkerSlot, now: Time) -> Vec<Notification> {
        let mut notifications = Vec::new();
        while state.queued() < self.settings.bound {
            let Some(next) = state.waiting.pop() else {
                self.not_busy(state);
                break;
            };
            notifications.push(self.admit(state, next, slot, now));
        }
        notifications
    }

    /// Puts a waiting job into a queue. If no other worker can take it, it goes to the worker at `slot`, which made room.
    #[cold]
    fn admit(self: &Arc<Self>, state: &mut PoolState, next: QueuedJob, slot: WorkerSlot, now: Time) -> Notification {
        let slot = self.choose(state, next.lane, next.changes, now).unwrap_or(slot);
        self.push(state, slot, next)
    }

    /// Called when the queues have room and no operation waits.
    pub fn not_busy(&self, state: &mut PoolState) {
        if let Some(busy) = state.busy.take() {
            port::not_busy(|| busy);
        }
    }

    /// Drops the waiting job of an operation that was dropped.
    pub fn cancel_waiting(&self, ticket: Ticket) {
        // Bound to a name, the job is dropped after the guard.
        let job = lock(&self.state).waiting.cancel(ticket);
        drop(job);
    }
}
