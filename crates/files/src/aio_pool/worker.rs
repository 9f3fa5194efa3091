//! An I/O thread.

use std::cell::Cell;
use std::sync::Arc;

use dyntrace_probes::contain::contain;
use dyntrace_probes::primitives::Condvar;
use tokio::runtime::Id;

use super::batch::Batch;
use super::blocking::{BlockMeter, KernelThread};
use super::clock::Time;
use super::completions::Completions;
use super::counts::Counts;
use super::delivery::TaskWaker;
use super::job::Job;
use super::lane::Lane;
use super::pace::{JobTiming, WAKE_UP};
use super::promises::Promise;
use super::runtimes;
use super::serial::Caller;
use super::shared::{PoolShared, QueuedJob, Refill, WorkerSlot};
use dyntrace_processes::probes::aio_pool as probes;

/// Runs jobs until the pool ends.
pub(super) fn run(
    shared: &Arc<PoolShared>,
    slot: WorkerSlot,
    condvar: &Condvar,
    batch: &Batch<QueuedJob>,
    completions: &Completions,
) {
    IS_WORKER.set(true);
    shared.worker_started(slot, KernelThread::current());
    let mut meter = BlockMeter::start();
    // How often it slept without a job since `meter` was read.
    let mut idle = 0;
    let (mut timings, mut spare, mut counts) = (Vec::new(), Vec::new(), Counts::default());
    while let Some(Refill { mut begun, wakes_after }) =
        shared.next_batch(slot, condvar, &mut timings, &mut counts, &mut idle)
    {
        let mut last_woken = begun;
        while let Some(job) = batch.pop() {
            let QueuedJob { promise, changes, .. } = job;
            // A job that this one submits (a CLOSE) makes its promise for the same runtime.
            WORKS_FOR.set(promise.and_then(|promise| promise.0));
            tell_taken(shared, slot, &job);
            run_job(job, &mut counts).into_iter().for_each(|waker| completions.add_waker(waker));
            if let Some(promise) = promise {
                completions.add_promise(promise);
                shared.promise_fulfilled();
            }
            let ended = Time::now();
            let service = ended.since(begun);
            counts.time(service);
            begun = ended;
            // For long jobs only: reading the meter is a system call.
            let blocked = service > WAKE_UP
                && meter.has_blocked(service > slot.lane.tolerated_block(), std::mem::take(&mut idle));
            timings.push(JobTiming { service, blocked, changes });
            if ended.since(last_woken) >= wakes_after {
                wake(shared, completions, &mut spare);
                last_woken = ended;
            }
        }
        wake(shared, completions, &mut spare);
    }
}

fn wake(shared: &PoolShared, completions: &Completions, spare: &mut Vec<TaskWaker>) {
    if completions.wake(spare) {
        shared.call_watchdog();
    }
}

std::thread_local! {
    /// The runtime for which this worker runs its job.
    static WORKS_FOR: Cell<Option<Id>> = const { Cell::new(None) };
    static IS_WORKER: Cell<bool> = const { Cell::new(false) };
}

/// Returns whether the current thread is one of a pool's.
pub(super) fn is_worker() -> bool {
    IS_WORKER.get()
}

/// Returns the caller that submits this job, if a bound worker may run it.
#[inline]
pub(super) fn caller<J: Job>(job: &J) -> Option<Caller> {
    if job.may_be_bound() && job.lane() == Lane::Fast && !is_worker() { Caller::current() } else { None }
}

/// The promise of a job that this thread submits: for the runtime that it is in, or whose job it runs.
pub(super) fn promise() -> Promise {
    if cfg!(loom) {
        // Its models have no runtime.
        return Promise(None);
    }
    Promise(runtimes::current().or_else(|| WORKS_FOR.get()))
}

/// Fires `aio_pool-get`, before the job starts. Outside the pool's lock: a trace may show it after a later step of the same queue.
// Always inlined: otherwise the cost of the disabled probe would depend on the rest of the crate.
#[inline(always)]
pub(super) fn tell_taken(shared: &PoolShared, slot: WorkerSlot, job: &QueuedJob) {
    if probes::get::is_enabled() {
        fire_get(shared, slot, job);
    }
}

#[cold]
#[inline(never)]
fn fire_get(shared: &PoolShared, slot: WorkerSlot, job: &QueuedJob) {
    probes::get(|| {
        job.taken.apply();
        (job.port, shared.length(slot), slot.lane.number())
    });
}

/// Runs a job and returns the task to wake.
#[inline(always)]
pub(super) fn run_job(job: QueuedJob, counts: &mut Counts) -> Option<TaskWaker> {
    let runnable = job.runnable;
    // A cell catches the panics of its job; this is for destructors that run with the last reference.
    contain(move || runnable.run(counts))?
}
