//! The state that a shard's handles, operations and threads share: the lock, and the steps taken under it.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use dyntrace_probes::forks;
use dyntrace_probes::primitives::thread::{self, JoinHandle, ThreadId};
use dyntrace_probes::primitives::{Condvar, Mutex, MutexGuard, lock, wait, wait_timeout};
use dyntrace_probes::sdt::Decision;

use super::admission_queue::{AdmissionQueue, Ticket};
use super::answered::Answered;
use super::blocking::{self, KernelThread};
use super::clock::Time;
use super::completions::Completions;
use super::counts::Counts;
use super::directories::Changes;
use super::extra_threads::ExtraThreads;
use super::job::Fault;
use super::lane::Lane;
use super::metrics::{CommandMetrics, Histogram, Metrics};
use super::pace::{JobTiming, Pace, RunningBatch, STRETCH, WAKE_UP};
use super::port::Port;
use super::promises::{Promise, Promises};
use super::queue::{Queued, Queues, WorkerState};
use super::runnable::Runnable;
use super::serial::{self, Caller, Serial};
use dyntrace_processes::probes::aio_pool as probes;

/// Starts a thread of the given name.
pub(super) type Spawn = dyn Fn(String, Box<dyn FnOnce() + Send>) -> io::Result<JoinHandle<()>> + Send + Sync;

/// The settings of a shard.
pub(super) struct Settings {
    /// Workers of the fast lane. With 0 the pool has no threads, and `run_one` runs the jobs.
    pub threads: usize,
    /// Counts the workers beyond those, of both lanes and all shards together.
    pub extra: Arc<ExtraThreads>,
    /// How many jobs all queues may hold together.
    pub bound: usize,
    /// How long an extra worker stays without a job.
    pub keep_alive: Duration,
    /// How long the end of a runtime, or of the process, waits for promises.
    pub exit_timeout: Duration,
    pub spawn: Arc<Spawn>,
}

pub(super) struct PoolShared {
    pub settings: Settings,
    pub state: Mutex<PoolState>,
    pub answered: Answered,
    /// Notified when a thread of the pool ends.
    pub ended: Condvar,
    /// The watchdog sleeps on it.
    pub watchdog: Arc<Condvar>,
    /// Whether the watchdog will look again. Changed under the lock; read without it.
    watchdog_is_awake: AtomicBool,
    /// Notified when promises are fulfilled while a thread waits for them.
    pub fulfilled: Condvar,
    /// How many threads wait for promises.
    pub promise_waiters: AtomicUsize,
    /// The count of forks when the last thread was started; [`NO_THREAD`] before the first.
    ///
    /// Relaxed: a forked child reads what its own thread or, before the fork, another one has written.
    started_in: AtomicU64,
}

const NO_THREAD: u64 = u64::MAX;

pub(super) struct PoolState {
    pub lanes: [LaneState; 2],
    /// Jobs that wait for room in the queues.
    pub waiting: AdmissionQueue<QueuedJob>,
    /// The port whose operation found the queues full, until they have room again. Set while any job waits.
    pub busy: Option<Port>,
    pub phase: Phase,
    /// Threads that have not ended, including the watchdog.
    pub threads: Vec<ThreadId>,
    pub promises: Promises,
    pub counts: Vec<CommandMetrics>,
    /// Of a pool without threads: empty counts that know their commands, while no job runs.
    pub stepping_counts: Counts,
    pub watchdog: WatchdogState,
    serial: Serial,
}

pub(super) struct LaneState {
    pub queues: Queues<QueuedJob>,
    /// In the order of the queues.
    pub workers: Vec<Worker>,
    pub pace: Pace,
    wait: Histogram,
    service: Histogram,
}

pub(super) struct Worker {
    /// The worker sleeps on it while idle.
    pub condvar: Arc<Condvar>,
    pub completions: Arc<Completions>,
    /// Set when the worker has started to run.
    pub thread: Option<KernelThread>,
    /// The processor that it is bound to.
    pub processor: Option<u16>,
}

/// The watchdog, as far as the pool's lock guards it. Loom's models have none: there each job wakes its worker.
pub(super) struct WatchdogState {
    pub is_started: bool,
    pub is_awake: bool,
    /// Set when it has started to run. Nothing binds it.
    pub thread: Option<KernelThread>,
}

/// Names a worker: its lane, and its queue there.
#[derive(Clone, Copy)]
pub(super) struct WorkerSlot {
    pub lane: Lane,
    pub queue: usize,
}

#[derive(Clone, Copy, PartialEq)]
pub(super) enum Phase {
    Open,
    /// The last handle is gone: workers end when nothing is queued.
    Closing,
    ShutDown,
}

/// A worker's new batch.
pub(super) struct Refill {
    pub begun: Time,
    /// How long it runs jobs before it wakes their tasks.
    pub wakes_after: Duration,
}

pub(super) struct QueuedJob {
    pub port: Port,
    pub lane: Lane,
    pub changes: Changes,
    /// Set if a bound worker may run it.
    pub caller: Option<Caller>,
    /// The processor that its worker is to be bound to: that of its serial caller.
    pub processor: Option<u16>,
    pub taken: Decision,
    pub submitted: Time,
    pub runnable: Arc<dyn Runnable>,
    pub promise: Option<Promise>,
}

impl Queued for QueuedJob {
    fn changes(&self) -> Changes {
        self.changes
    }
}

/// The threads to wake once the lock is free, so that they do not contend for it.
#[derive(Default)]
#[must_use]
pub(super) struct Notification {
    worker: Option<Arc<Condvar>>,
    watchdog: Option<Arc<Condvar>>,
}

impl Notification {
    pub fn send(self) {
        if let Some(worker) = self.worker {
            worker.notify_one();
        }
        if let Some(watchdog) = self.watchdog {
            watchdog.notify_one();
        }
    }
}

impl PoolShared {
    pub fn new(settings: Settings) -> Self {
        let lane = |pace| {
            let mut queues = Queues::new();
            if settings.threads == 0 {
                queues.vacant();
                queues.set_state(0, WorkerState::Woken);
            }
            let (wait, service) = Default::default();
            LaneState { queues, workers: Vec::new(), pace, wait, service }
        };
        let state = PoolState {
            lanes: [lane(Pace::quick()), lane(Pace::slow())],
            waiting: AdmissionQueue::new(),
            busy: None,
            phase: Phase::Open,
            threads: Vec::new(),
            promises: Promises::new(),
            counts: Vec::new(),
            stepping_counts: Counts::default(),
            watchdog: WatchdogState { is_started: cfg!(loom), is_awake: cfg!(loom), thread: None },
            serial: Serial::new(),
        };
        PoolShared {
            settings,
            state: Mutex::new(state),
            answered: Answered::new(),
            ended: Condvar::new(),
            watchdog: Arc::new(Condvar::new()),
            watchdog_is_awake: AtomicBool::new(cfg!(loom)),
            fulfilled: Condvar::new(),
            promise_waiters: AtomicUsize::new(0),
            started_in: AtomicU64::new(NO_THREAD),
        }
    }

    /// Notes that a thread is about to start in this process.
    pub fn starts_here(&self) {
        self.started_in.store(forks::so_far(), Ordering::Relaxed);
    }

    /// Returns whether this is a forked child, and its parent had started threads. The child does not have them; one of them may hold the
    /// lock in the child for ever.
    pub fn has_started_elsewhere(&self) -> bool {
        let started_in = self.started_in.load(Ordering::Relaxed);
        started_in != NO_THREAD && started_in != forks::so_far()
    }

    /// Puts a job into a queue or, if the queues are full, has it wait and returns a ticket. Refuses the job if the pool is shut down.
    ///
    /// # Errors
    ///
    /// Gives the job back, and says why, if the shard has no thread and gets none.
    pub fn submit(self: &Arc<Self>, mut job: QueuedJob) -> Result<Option<Ticket>, (QueuedJob, io::Error)> {
        let mut state = lock(&self.state);
        if state.phase == Phase::ShutDown || state.queued() >= self.settings.bound {
            return Ok(self.refuse_or_wait(state, job));
        }
        if let Some(caller) = job.caller
            && let Some((slot, processor)) = state.local_worker(caller, job.submitted)
        {
            job.processor = Some(processor);
            state.make_promise(&mut job);
            let notification = self.push(&mut state, slot, job);
            drop(state);
            notification.send();
            return Ok(None);
        }
        let slot = match self.choose(&mut state, job.lane, job.changes, job.submitted) {
            Ok(slot) => slot,
            Err(error) => return Err((job, error)),
        };
        state.make_promise(&mut job);
        let notification = self.push(&mut state, slot, job);
        drop(state);
        notification.send();
        Ok(None)
    }

    /// [Submits](PoolShared::submit) a job to a pool that is shut down or full.
    #[cold]
    #[inline(never)]
    fn refuse_or_wait(&self, mut state: MutexGuard<'_, PoolState>, mut job: QueuedJob) -> Option<Ticket> {
        if state.phase == Phase::ShutDown {
            drop(state);
            job.runnable.refuse(Fault::ShutDown);
            return None;
        }
        state.make_promise(&mut job);
        Some(self.wait_for_room(&mut state, job))
    }

    /// Chooses the worker for a new job: the one that changes its directory, a busy one that starts it soon, an idle one, a new one, or the
    /// one with the shortest queue, a blocked one only if all are; of the other lane if this one has no worker. The error says why there is
    /// none.
    pub fn choose(
        self: &Arc<Self>,
        state: &mut PoolState,
        lane: Lane,
        changes: Changes,
        now: Time,
    ) -> io::Result<WorkerSlot> {
        let LaneState { queues, pace, .. } = state.lane(lane);
        let chosen = queues.changing(changes).or_else(|| queues.soon(pace, now)).or_else(|| queues.idle());
        if let Some(queue) = chosen {
            return Ok(WorkerSlot { lane, queue });
        }
        let error = match self.start_worker(state, lane) {
            Ok(Some(slot)) => return Ok(slot),
            Ok(None) => None,
            Err(error) => Some(error),
        };
        let mut shortest = |lane| state.lane(lane).queues.shortest().map(|queue| WorkerSlot { lane, queue });
        let slot = shortest(lane).or_else(|| Lane::ALL.into_iter().find_map(&mut shortest));
        slot.ok_or_else(|| {
            error.unwrap_or_else(|| io::Error::other("all extra threads are in use (aio_pool::Builder::slow_threads)"))
        })
    }

    /// Returns whether the lane has extra workers, blocked ones not counted.
    fn has_extra(&self, state: &mut PoolState, lane: Lane) -> bool {
        state.lane(lane).queues.available() > self.base_workers(lane)
    }

    /// Returns whether a lane has at least `more` workers beyond those that it may have without extra threads.
    pub fn is_beyond_base(&self, state: &mut PoolState, lane: Lane, more: usize) -> bool {
        state.lane(lane).queues.workers() >= self.base_workers(lane) + more
    }

    /// How many workers a lane may have without extra threads.
    pub fn base_workers(&self, lane: Lane) -> usize {
        match lane {
            Lane::Fast => self.settings.threads,
            Lane::Slow => self.settings.threads.min(1),
        }
    }

    /// Puts a job into a queue. `aio_pool-add` fires under the lock: otherwise a trace could show a job taken before it was added.
    pub fn push(&self, state: &mut PoolState, slot: WorkerSlot, job: QueuedJob) -> Notification {
        let queues = &mut state.lane(slot.lane).queues;
        let processor = job.processor;
        // Before the push, which moves the job. No thread sees the queue in between: the state is locked.
        probes::add(|| {
            job.taken.apply();
            (job.port, queues.length(slot.queue) as i32 + 1)
        });
        match queues.push(slot.queue, job) {
            WorkerState::Idle => {
                state.bind(slot, processor);
                let watchdog = processor.and_then(|_| self.rouse_watchdog(state));
                Notification { watchdog, ..state.wake(slot) }
            }
            _ => Notification { watchdog: self.rouse_watchdog(state), ..Notification::default() },
        }
    }

    /// Has the watchdog look from now on, if it sleeps. A worker calls this after it gave wakers to a wake task; the watchdog sees them
    /// before it sleeps again ([`watchdog_sleeps`](PoolShared::watchdog_sleeps)).
    ///
    /// Relaxed: the wakers' list has a lock. Either the watchdog looks at the list after the wakers came, or its look, and the note
    /// that it sleeps, come before.
    pub fn call_watchdog(&self) {
        if !self.watchdog_is_awake.load(Ordering::Relaxed) {
            let watchdog = self.rouse_watchdog(&mut lock(&self.state));
            Notification { watchdog, ..Notification::default() }.send();
        }
    }

    /// Marks the watchdog as awake. Returns the condition variable to notify if it sleeps.
    pub fn rouse_watchdog(&self, state: &mut PoolState) -> Option<Arc<Condvar>> {
        let sleeps = !std::mem::replace(&mut state.watchdog.is_awake, true);
        if sleeps {
            self.watchdog_is_awake.store(true, Ordering::Relaxed);
        }
        sleeps.then(|| Arc::clone(&self.watchdog))
    }

    /// Notes that the watchdog is about to sleep. It must look at the runtimes' lists once more after this.
    pub fn watchdog_sleeps(&self, state: &mut PoolState) {
        state.watchdog.is_awake = false;
        self.watchdog_is_awake.store(false, Ordering::Relaxed);
    }

    /// Notes that a worker has started to run.
    pub fn worker_started(&self, slot: WorkerSlot, thread: KernelThread) {
        lock(&self.state).lane(slot.lane).workers[slot.queue].thread = Some(thread);
    }

    /// Refills the worker's empty batch, sleeping until a job arrives. Takes the `timings` and `counts` of its last batch, and adds to `idle` how
    /// often it slept. Returns `None` if the worker must end.
    pub fn next_batch(
        self: &Arc<Self>,
        slot: WorkerSlot,
        condvar: &Condvar,
        timings: &mut Vec<JobTiming>,
        counts: &mut Counts,
        idle: &mut libc::c_long,
    ) -> Option<Refill> {
        let mut now = Time::now();
        let mut state = lock(&self.state);
        let lane = state.lane(slot.lane);
        for JobTiming { service, blocked, changes } in timings.drain(..) {
            lane.queues.ended(changes);
            lane.pace.record(service, blocked);
            lane.service.record(service);
        }
        counts.move_to(&mut state.counts);
        self.collect_promises(&mut state, slot);
        loop {
            let pace = &state.lane(slot.lane).pace;
            let (most, stretch) = (pace.batch_size(), pace.stretch_size());
            let (jobs, is_stretch, notifications) = self.take(&mut state, slot, most, stretch, now);
            if jobs > 0 {
                let batch = RunningBatch { since: now, jobs };
                state.lane(slot.lane).queues.set_state(slot.queue, WorkerState::Busy(batch));
                drop(state);
                if let Some(notifications) = notifications {
                    notifications.into_iter().for_each(Notification::send);
                }
                return Some(Refill { begun: now, wakes_after: if is_stretch { STRETCH } else { WAKE_UP } });
            }
            state.lane(slot.lane).queues.set_state(slot.queue, WorkerState::Idle);
            let mut timed_out = false;
            if state.phase == Phase::Open {
                *idle += 1;
                (state, timed_out) = match self.has_extra(&mut state, slot.lane) {
                    true => wait_timeout(condvar, state, self.settings.keep_alive),
                    false => (wait(condvar, state), false),
                };
            }
            let is_idle = state.lane(slot.lane).queues.worker_state(slot.queue) == WorkerState::Idle;
            let is_over = state.phase != Phase::Open || timed_out && self.has_extra(&mut state, slot.lane);
            if is_idle && is_over {
                if self.is_beyond_base(&mut state, slot.lane, 1) {
                    self.settings.extra.give_back();
                }
                state.lane(slot.lane).queues.set_state(slot.queue, WorkerState::Gone);
                self.thread_ends(&mut state);
                return None;
            }
            now = Time::now();
        }
    }

    /// Returns how many jobs of a worker have not started.
    pub fn length(&self, slot: WorkerSlot) -> i32 {
        lock(&self.state).lane(slot.lane).queues.length(slot.queue) as i32
    }

    /// Notes that the current thread, one of the pool's, ends.
    pub fn thread_ends(&self, state: &mut PoolState) {
        let this = thread::current().id();
        state.threads.retain(|thread| *thread != this);
        self.ended.notify_all();
        self.watchdog.notify_one();
    }

    /// Collects the promises that a worker has fulfilled.
    fn collect_promises(&self, state: &mut PoolState, slot: WorkerSlot) {
        let PoolState { lanes, promises, .. } = state;
        let Some(worker) = lanes[slot.lane as usize].workers.get(slot.queue) else { return };
        worker.completions.report_promises(|promise| promises.fulfil(promise));
        self.notify_promise_waiters();
    }

    pub fn fulfil(&self, state: &mut PoolState, promise: Option<Promise>) {
        if let Some(promise) = promise {
            state.promises.fulfil(promise);
            self.notify_promise_waiters();
        }
    }

    fn notify_promise_waiters(&self) {
        if self.promise_waiters.load(Ordering::Relaxed) > 0 {
            self.fulfilled.notify_all();
        }
    }

    /// Called by a worker that has noted a fulfilled promise.
    ///
    /// Relaxed: the worker's list has a lock. Either the waiting thread finds the promise there, or it took the list before, and had
    /// counted itself before that.
    pub fn promise_fulfilled(&self) {
        if self.promise_waiters.load(Ordering::Relaxed) > 0 {
            let _state = lock(&self.state);
            self.fulfilled.notify_all();
        }
    }

    /// Moves up to `most` jobs into a worker's batch, or `stretch` of those that only it may take. Returns how many, and whether they are
    /// such. Waiting jobs get the room (step b).
    pub fn take(
        self: &Arc<Self>,
        state: &mut PoolState,
        slot: WorkerSlot,
        most: usize,
        stretch: usize,
        now: Time,
    ) -> (usize, bool, Option<Vec<Notification>>) {
        let PoolState { lanes, serial, .. } = state;
        let LaneState { queues, wait, .. } = &mut lanes[slot.lane as usize];
        let mut is_local = true;
        let (taken, is_stretch) = queues.take(slot.queue, most, stretch, |job| {
            let waited = now.since(job.submitted);
            wait.record(waited);
            match job.processor {
                Some(_) if waited > serial::LATE => serial.was_late(),
                Some(_) => {}
                None => is_local = false,
            }
        });
        state.look_at_processor(slot, is_local);
        let notifications = state.busy.is_some().then(|| self.admit_waiting(state, slot, now));
        (taken, is_stretch, notifications)
    }

    pub fn metrics(&self) -> Metrics {
        let mut state = lock(&self.state);
        let (waiting, mut commands) = (state.waiting.length(), state.counts.clone());
        self.answered.add_to(&mut commands);
        let mut metrics = Metrics { waiting, commands, ..Metrics::default() };
        metrics.sort();
        for lane in Lane::ALL {
            let LaneState { queues, wait, service, .. } = state.lane(lane);
            let shown = metrics.lane(lane);
            shown.queued = queues.waiting();
            shown.threads = if self.settings.threads == 0 { 0 } else { queues.workers() };
            shown.idle = queues.count(|worker| worker == WorkerState::Idle);
            shown.blocked = queues.count(|worker| matches!(worker, WorkerState::Blocked(_)));
            shown.operations = wait.count();
            shown.wait = wait.clone();
            shown.service = service.clone();
        }
        metrics
    }
}

impl PoolState {
    pub fn lane(&mut self, lane: Lane) -> &mut LaneState {
        &mut self.lanes[lane as usize]
    }

    /// Returns the worker for a job of this caller, and the caller's processor, if the caller is serial.
    fn local_worker(&mut self, caller: Caller, now: Time) -> Option<(WorkerSlot, u16)> {
        let LaneState { queues, workers, pace, .. } = &self.lanes[Lane::Fast as usize];
        let is_serial = self.serial.submits(caller, queues.are_quiet());
        if !is_serial || !pace.is_below(serial::LONG) {
            return None;
        }
        let processor = blocking::processor()?;
        let bound = workers.iter().position(|worker| worker.processor == Some(processor));
        let queue = bound.filter(|&queue| queues.is_near(queue, pace, now)).or_else(|| queues.idle())?;
        Some((WorkerSlot { lane: Lane::Fast, queue }, processor))
    }

    /// Steps 2 and 3: binds an idle worker to a processor, or releases it.
    fn bind(&mut self, slot: WorkerSlot, processor: Option<u16>) {
        let free = self.watchdog.thread;
        let Some(worker) = self.lanes[slot.lane as usize].workers.get_mut(slot.queue) else { return };
        if worker.processor == processor {
            return;
        }
        let (Some(thread), Some(free)) = (worker.thread, free) else { return };
        worker.processor = match processor {
            Some(processor) if thread.bind(processor, free) => Some(processor),
            Some(_) => {
                self.serial.was_late();
                None
            }
            None => {
                thread.release(free);
                None
            }
        };
    }

    /// Steps 3 and 4, by a worker that has taken jobs.
    fn look_at_processor(&mut self, slot: WorkerSlot, is_local: bool) {
        let Some(worker) = self.lanes[slot.lane as usize].workers.get_mut(slot.queue) else { return };
        if worker.processor.is_none() {
            return;
        }
        if !is_local {
            self.bind(slot, None);
        } else if worker.processor != blocking::processor() {
            worker.processor = None;
        }
    }

    /// Makes the promise that a job asks for, now that the job is sure to run or be refused.
    fn make_promise(&mut self, job: &mut QueuedJob) {
        if let Some(promise) = job.promise {
            job.promise = self.promises.make(promise);
        }
    }

    /// How many jobs the queues hold, without batches.
    pub fn queued(&self) -> usize {
        self.lanes.iter().map(|lane| lane.queues.queued()).sum()
    }

    /// Returns whether jobs have not started, or tasks of completed jobs were not woken.
    pub fn has_backlog(&self) -> bool {
        self.lanes
            .iter()
            .any(|lane| lane.queues.waiting() > 0 || lane.workers.iter().any(|worker| worker.completions.has_wakers()))
    }

    /// Has an idle worker woken.
    pub fn wake(&mut self, slot: WorkerSlot) -> Notification {
        let LaneState { queues, workers, .. } = self.lane(slot.lane);
        queues.set_state(slot.queue, WorkerState::Woken);
        Notification { worker: Some(Arc::clone(&workers[slot.queue].condvar)), ..Notification::default() }
    }

    /// Returns whether the pool has ended, except for the calling thread.
    pub fn is_last_thread(&self) -> bool {
        self.phase != Phase::Open && self.threads.len() == 1
    }
}
