//! The watchdog: a thread that finds jobs which wait behind a blocked worker, and completions that such a worker has not reported.
//!
//! A job may be queued behind a worker that will start it soon. If the worker then waits for a disk, or for the other end of a FIFO, the
//! job would wait with it, and so would the tasks of its [completions](super::completions). So:
//!
//! 1. A thread that queues a job behind a busy worker rouses the watchdog, unless it is awake already.
//! 2. The watchdog looks every [`PERIOD`]. It has another worker take a job of a [serial](super::serial) caller that waits for its worker. If
//!    jobs or completions wait, each worker that has run its batch for longer than [`PATIENCE`] is a suspect.
//! 3. Without the lock, it wakes the tasks of the suspects' completions, and asks the system which suspects are blocked.
//! 4. It returns the batch of each suspect that is still in the same batch to its queue, and wakes an idle worker, which takes it.
//! 5. It marks those that are blocked: they get no jobs until they ask for some. If no worker is idle, it starts another one in their
//!    place. A suspect that runs, or waits for a processor, needs no replacement.
//! 6. It looks at the wakers that the wake tasks of runtimes have not taken, and wakes those tasks itself
//!    ([`delivery`](super::delivery)).
//! 7. When it has found nothing for [`QUIET`] looks, it sleeps until it is roused.

use std::sync::Arc;
use std::time::Duration;

use dyntrace_probes::primitives::{lock, wait, wait_timeout};

use super::blocking::KernelThread;
use super::clock::Time;
use super::completions::Completions;
use super::lane::Lane;
use super::queue::WorkerState;
use super::runtimes;
use super::serial;
use super::shared::{LaneState, Notification, PoolShared, PoolState, QueuedJob, WorkerSlot};

const PERIOD: Duration = Duration::from_millis(1);

/// Longer than a preempted thread usually keeps a lock.
const PATIENCE: Duration = Duration::from_millis(4);

/// Looks that find nothing before it sleeps.
const QUIET: u32 = 16;

/// Runs until it is the pool's last thread.
pub(super) fn run(shared: &Arc<PoolShared>) {
    let mut state = lock(&shared.state);
    state.watchdog.thread = Some(KernelThread::current());
    let mut quiet = 0;
    while !state.is_last_thread() {
        if !state.watchdog.is_awake {
            state = wait(&shared.watchdog, state);
            continue;
        }
        state = wait_timeout(&shared.watchdog, state, PERIOD).0;
        quiet = if state.has_backlog() { 0 } else { quiet + 1 };
        if quiet == QUIET {
            quiet = 0;
            shared.watchdog_sleeps(&mut state);
        }
        // After the note that it sleeps: a completion that comes later rouses it.
        drop(state);
        let are_left = runtimes::look();
        state = lock(&shared.state);
        if are_left {
            quiet = 0;
            // This thread is the one to notify.
            let _ = shared.rouse_watchdog(&mut state);
        }
        relieve_late(shared, &mut state);
        let suspects: Vec<_> = Lane::ALL.into_iter().flat_map(|lane| suspects(&mut state, lane)).collect();
        if suspects.is_empty() {
            continue;
        }
        drop(state);
        let has_wake_task = suspects.iter().fold(false, |any, suspect| suspect.completions.wake(&mut Vec::new()) | any);
        let suspects: Vec<_> = suspects.into_iter().map(|suspect| (suspect.thread.is_blocked(), suspect)).collect();
        state = lock(&shared.state);
        if has_wake_task {
            let _ = shared.rouse_watchdog(&mut state);
        }
        for (is_blocked, suspect) in suspects {
            relieve(shared, &mut state, &suspect, is_blocked).send();
        }
    }
    drop(state);
    // There is no watchdog after this: the second look wakes the tasks that the first one saw.
    runtimes::look();
    runtimes::look();
    shared.thread_ends(&mut lock(&shared.state));
}

/// Step 2: as a caller keeps the processor from a bound worker, another one takes its jobs.
fn relieve_late(shared: &Arc<PoolShared>, state: &mut PoolState) {
    let (lane, now) = (Lane::Fast, Time::now());
    let is_late = |job: &QueuedJob| job.processor.is_some() && now.since(job.submitted) > serial::LATE;
    for queue in state.lane(lane).queues.woken_for(is_late) {
        let queues = &mut state.lane(lane).queues;
        queues.give_back(queue);
        let other = queues.idle().map(|queue| WorkerSlot { lane, queue });
        match other {
            Some(idle) => state.wake(idle).send(),
            // If no thread can be started, the job waits for its own worker.
            None => _ = shared.start_worker(state, lane),
        }
    }
}

struct Suspect {
    slot: WorkerSlot,
    worker: WorkerState,
    thread: KernelThread,
    completions: Arc<Completions>,
}

/// Step 2.
fn suspects(state: &mut PoolState, lane: Lane) -> Vec<Suspect> {
    let LaneState { queues, workers, .. } = state.lane(lane);
    // A worker that was woken takes one of the waiting jobs.
    let are_reported = !workers.iter().any(|worker| worker.completions.has_wakers());
    if are_reported && queues.waiting() <= queues.count(|worker| worker == WorkerState::Woken) {
        return Vec::new();
    }
    let suspects = queues.suspects(PATIENCE, Time::now()).into_iter().filter_map(|(queue, batch)| {
        let worker = workers.get(queue)?;
        let (thread, completions) = (worker.thread?, Arc::clone(&worker.completions));
        Some(Suspect { slot: WorkerSlot { lane, queue }, worker: WorkerState::Busy(batch), thread, completions })
    });
    suspects.collect()
}

/// Steps 4 and 5.
fn relieve(shared: &Arc<PoolShared>, state: &mut PoolState, suspect: &Suspect, is_blocked: bool) -> Notification {
    let WorkerSlot { lane, queue } = suspect.slot;
    let queues = &mut state.lane(lane).queues;
    let (true, WorkerState::Busy(batch)) = (queues.worker_state(queue) == suspect.worker, suspect.worker) else {
        return Notification::default();
    };
    queues.give_back(queue);
    if is_blocked {
        queues.set_state(queue, WorkerState::Blocked(batch));
    }
    match queues.idle() {
        Some(idle) => state.wake(WorkerSlot { lane, queue: idle }),
        None => {
            if is_blocked {
                // If no thread can be started, the existing ones go on.
                let _ = shared.start_worker(state, lane);
            }
            Notification::default()
        }
    }
}
