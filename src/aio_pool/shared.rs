//! What the handles of a pool, its operations and its threads share: the lock, and each step taken under it.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use super::answers::Answers;
use super::asleep::ThreadNumber;
use super::clock::Time;
use super::delivery::Addressee;
use super::job::Job;
use super::lane::Lane;
use super::line::{Line, Ticket};
use super::metrics::{Histogram, Metrics};
use super::pace::{Pace, Turn};
use super::port::Port;
use super::promises::{Of, Promise, Promises};
use super::queue::{Doing, Queues};
use super::watch;
use super::work::Fault;
use super::worker::{self, Served};
use crate::probes::aio_pool as probes;
use crate::sdt::Decision;
use crate::sync::thread::{self, JoinHandle, ThreadId};
use crate::sync::{Condvar, Mutex, lock, wait, wait_timeout};

/// Starts a thread of the given name.
pub(super) type Spawn = dyn Fn(String, Box<dyn FnOnce() + Send>) -> io::Result<JoinHandle<()>> + Send + Sync;

pub(super) struct Settings {
    /// Workers of the fast lane. 0: there are no threads, `run_one` does the work.
    pub threads: usize,
    /// Workers beyond those, of both lanes.
    pub extra: usize,
    /// How many jobs all queues may hold together.
    pub bound: usize,
    /// How long an extra worker stays without a job.
    pub keep: Duration,
    /// How long the end of a runtime, or of the process, waits for promises.
    pub exit_timeout: Duration,
    pub spawn: Box<Spawn>,
}

pub(super) struct Shared {
    pub settings: Settings,
    pub state: Mutex<State>,
    /// Rung when a thread of the pool ends.
    ended: Condvar,
    /// What the watch sleeps on.
    pub watch: Arc<Condvar>,
    /// Whether the watch will look again. Changed under the lock; read without it.
    watch_is_up: AtomicBool,
    /// Rung when promises are kept while somebody waits for them.
    kept: Condvar,
    /// How many threads wait for promises.
    waiters: AtomicUsize,
}

pub(super) struct State {
    lanes: [LaneState; 2],
    pub line: Line<Entry>,
    /// The port whose operation found the queues full, until they have room again. There is one while anything stands in line.
    pub busy: Option<Port>,
    phase: Phase,
    /// Threads that have not ended, the watch among them.
    threads: Vec<ThreadId>,
    promises: Promises,
    pub watch: watch::State,
}

pub(super) struct LaneState {
    pub queues: Queues<Entry>,
    /// In the order of the queues.
    pub workers: Vec<Worker>,
    pub pace: Pace,
    wait: Histogram,
    service: Histogram,
}

pub(super) struct Worker {
    /// What it sleeps on while it is idle.
    bell: Arc<Condvar>,
    pub answers: Arc<Answers>,
    /// Once it has run.
    pub number: Option<ThreadNumber>,
}

/// A worker's place: its lane, its queue there.
#[derive(Clone, Copy)]
pub(super) struct Seat {
    pub lane: Lane,
    pub queue: usize,
}

#[derive(Clone, Copy, PartialEq)]
enum Phase {
    Open,
    /// The last handle is gone: workers end when nothing is queued.
    Closing,
    ShutDown,
}

pub(super) struct Entry {
    pub port: Port,
    pub lane: Lane,
    pub taken: Decision,
    pub submitted: Time,
    pub job: Arc<dyn Job>,
    pub promise: Option<Promise>,
}

/// Whom to wake once the lock is free (so that the woken ones do not run into it).
#[derive(Default)]
#[must_use]
pub(super) struct Wake {
    worker: Option<Arc<Condvar>>,
    watch: Option<Arc<Condvar>>,
}

impl Wake {
    pub fn ring(self) {
        if let Some(bell) = self.worker {
            bell.notify_one();
        }
        if let Some(bell) = self.watch {
            bell.notify_one();
        }
    }
}

impl Shared {
    pub fn new(settings: Settings) -> Self {
        let lane = |pace| {
            let mut queues = Queues::new();
            if settings.threads == 0 {
                queues.vacant();
                queues.set(0, Doing::Woken);
            }
            let (wait, service) = Default::default();
            LaneState { queues, workers: Vec::new(), pace, wait, service }
        };
        let state = State {
            lanes: [lane(Pace::quick()), lane(Pace::slow())],
            line: Line::new(),
            busy: None,
            phase: Phase::Open,
            threads: Vec::new(),
            promises: Promises::new(),
            watch: watch::State::new(),
        };
        Shared {
            settings,
            state: Mutex::new(state),
            ended: Condvar::new(),
            watch: Arc::new(Condvar::new()),
            watch_is_up: AtomicBool::new(cfg!(loom)),
            kept: Condvar::new(),
            waiters: AtomicUsize::new(0),
        }
    }

    /// Takes in a job: into a queue, or into the line if they are full (then there is a ticket), or not at all: then it is
    /// refused here.
    pub fn add(self: &Arc<Self>, mut entry: Entry) -> Option<Ticket> {
        let mut state = lock(&self.state);
        if state.phase == Phase::ShutDown {
            drop(state);
            entry.job.refuse(Fault::ShutDown);
            return None;
        }
        entry.promise = entry.promise.and_then(|promise| state.promises.make(promise));
        if state.queued() >= self.settings.bound {
            return Some(self.stand_in_line(&mut state, entry));
        }
        let now = entry.submitted;
        match self.choose(&mut state, entry.lane, now) {
            Ok(seat) => {
                let wake = self.push(&mut state, seat, entry);
                drop(state);
                wake.ring();
            }
            Err(error) => {
                self.keep(&mut state, entry.promise);
                drop(state);
                entry.job.refuse(Fault::NoThread(error));
            }
        }
        None
    }

    /// The seat for a new job: that of a worker that comes to it soon, of an idle one, of a new one, or the one with the shortest
    /// queue; of the other lane where this one has no worker. The error says why there is none.
    pub fn choose(self: &Arc<Self>, state: &mut State, lane: Lane, now: Time) -> io::Result<Seat> {
        let LaneState { queues, pace, .. } = state.lane(lane);
        if let Some(queue) = queues.soon(pace, now).or_else(|| queues.idle()) {
            return Ok(Seat { lane, queue });
        }
        let error = match self.start_worker(state, lane) {
            Ok(Some(seat)) => return Ok(seat),
            Ok(None) => None,
            Err(error) => Some(error),
        };
        let mut shortest = |lane| state.lane(lane).queues.shortest().map(|queue| Seat { lane, queue });
        let seat = shortest(lane).or_else(|| Lane::ALL.into_iter().find_map(&mut shortest));
        seat.ok_or_else(|| error.unwrap_or_else(|| io::Error::other("no I/O thread may be started")))
    }

    /// Starts one more worker if the lane may have one, with the lock held: it happens few times in the life of a pool, and so
    /// the worker's queue is there if and only if the worker is. `None`: the lane may not.
    pub fn start_worker(self: &Arc<Self>, state: &mut State, lane: Lane) -> io::Result<Option<Seat>> {
        if !self.may_start(state, lane) {
            return Ok(None);
        }
        if !state.watch.is_there() {
            let shared = Arc::clone(self);
            let watch = (self.settings.spawn)("dyntrace-watch".to_owned(), Box::new(move || watch::run(&shared)))?;
            state.threads.push(watch.thread().id());
            state.watch.is_started();
        }
        let (queue, hand) = state.lane(lane).queues.vacant();
        let (bell, answers) = (Arc::new(Condvar::new()), Arc::new(Answers::new()));
        let run = {
            let (shared, bell, answers) = (Arc::clone(self), Arc::clone(&bell), Arc::clone(&answers));
            move || worker::run(&shared, Seat { lane, queue }, &bell, &hand, &answers)
        };
        let handle = (self.settings.spawn)(format!("{}-{}", lane.threads_name(), queue + 1), Box::new(run))?;
        state.threads.push(handle.thread().id());
        let LaneState { queues, workers, .. } = state.lane(lane);
        queues.set(queue, Doing::Woken);
        let worker = Worker { bell, answers, number: None };
        match workers.get_mut(queue) {
            Some(gone) => *gone = worker,
            None => workers.push(worker),
        }
        Ok(Some(Seat { lane, queue }))
    }

    /// A pool without threads gets none. A lane has its own workers, of which those count that do not sleep in a job; where most works
    /// wait, it has more.
    fn may_start(&self, state: &mut State, lane: Lane) -> bool {
        let own = self.own(lane);
        let extra: usize =
            Lane::ALL.map(|lane| state.lane(lane).queues.workers().saturating_sub(self.own(lane))).iter().sum();
        let LaneState { queues, pace, .. } = state.lane(lane);
        let is_extra = queues.workers() >= own;
        let is_wanted = queues.reliable() < own || pace.is_blocking();
        self.settings.threads > 0 && is_wanted && (!is_extra || extra < self.settings.extra)
    }

    /// Whether the lane has more workers than its own, without those that sleep in a job.
    fn is_extra(&self, state: &mut State, lane: Lane) -> bool {
        state.lane(lane).queues.reliable() > self.own(lane)
    }

    fn own(&self, lane: Lane) -> usize {
        match lane {
            Lane::Fast => self.settings.threads,
            Lane::Slow => self.settings.threads.min(1),
        }
    }

    /// Puts a job into a queue. `aio_pool-add` is fired under the lock: else a trace could show a job taken before it was
    /// added. While nobody looks that costs nothing.
    pub fn push(&self, state: &mut State, seat: Seat, entry: Entry) -> Wake {
        let (port, taken) = (entry.port, entry.taken);
        let queues = &mut state.lane(seat.lane).queues;
        let doing = queues.push(seat.queue, entry);
        probes::add(|| {
            taken.apply();
            (port, queues.length(seat.queue) as i32)
        });
        match doing {
            Doing::Idle => state.wake(seat),
            _ => Wake { watch: self.watch_to_wake(state), ..Wake::default() },
        }
    }

    /// Has the watch look from now on, if it sleeps. A worker calls it after it gave answers to a runtime's driver, which the watch
    /// sees before it sleeps again ([`watch_sleeps`](Shared::watch_sleeps)).
    ///
    /// Relaxed: that list has a lock. Either the watch looks at it after the answers came, or its look, and that it sleeps, come
    /// before.
    pub fn call_watch(&self) {
        if !self.watch_is_up.load(Ordering::Relaxed) {
            let wake = Wake { watch: self.watch_to_wake(&mut lock(&self.state)), ..Wake::default() };
            wake.ring();
        }
    }

    /// Notes that the watch looks from now on; the bell to ring if it sleeps.
    pub fn watch_to_wake(&self, state: &mut State) -> Option<Arc<Condvar>> {
        let sleeps = state.watch.call();
        if sleeps {
            self.watch_is_up.store(true, Ordering::Relaxed);
        }
        sleeps.then(|| Arc::clone(&self.watch))
    }

    /// The watch is about to sleep. It must look at the runtimes' lists once more after this.
    pub fn watch_sleeps(&self, state: &mut State) {
        state.watch.sleeps();
        self.watch_is_up.store(false, Ordering::Relaxed);
    }

    /// A worker has begun.
    pub fn arrive(&self, seat: Seat, number: ThreadNumber) {
        lock(&self.state).lane(seat.lane).workers[seat.queue].number = Some(number);
    }

    /// Fills the empty hand of a worker that has served so many since the last time; sleeps until there is something, and counts how often.
    /// Answers when that was; `None`: the worker is to end.
    pub fn next(
        self: &Arc<Self>,
        seat: Seat,
        bell: &Condvar,
        served: &mut Vec<Served>,
        idle: &mut libc::c_long,
    ) -> Option<Time> {
        let mut now = Time::now();
        let mut state = lock(&self.state);
        let lane = state.lane(seat.lane);
        for Served { service, slept } in served.drain(..) {
            lane.pace.saw(service, slept);
            lane.service.record(service);
        }
        self.report(&mut state, seat);
        loop {
            let handful = state.lane(seat.lane).pace.handful();
            let (works, wakes) = self.take(&mut state, seat, handful, now);
            if works > 0 {
                state.lane(seat.lane).queues.set(seat.queue, Doing::Busy(Turn { since: now, works }));
                drop(state);
                if let Some(wakes) = wakes {
                    wakes.into_iter().for_each(Wake::ring);
                }
                return Some(now);
            }
            state.lane(seat.lane).queues.set(seat.queue, Doing::Idle);
            let mut timed_out = false;
            if state.phase == Phase::Open {
                *idle += 1;
                (state, timed_out) = match self.is_extra(&mut state, seat.lane) {
                    true => wait_timeout(bell, state, self.settings.keep),
                    false => (wait(bell, state), false),
                };
            }
            let is_idle = state.lane(seat.lane).queues.doing(seat.queue) == Doing::Idle;
            let is_over = state.phase != Phase::Open || timed_out && self.is_extra(&mut state, seat.lane);
            if is_idle && is_over {
                state.lane(seat.lane).queues.set(seat.queue, Doing::Gone);
                self.end_thread(&mut state);
                return None;
            }
            now = Time::now();
        }
    }

    /// How many jobs of a worker have not begun.
    pub fn length(&self, seat: Seat) -> i32 {
        lock(&self.state).lane(seat.lane).queues.length(seat.queue) as i32
    }

    /// This thread of the pool ends.
    pub fn end_thread(&self, state: &mut State) {
        let this = thread::current().id();
        state.threads.retain(|thread| *thread != this);
        self.ended.notify_all();
        self.watch.notify_one();
    }

    /// Does one job, of a pool without threads. `false` if there is none.
    pub fn run_one(self: &Arc<Self>) -> bool {
        let Some((seat, entry)) = self.take_one() else { return false };
        let promise = entry.promise;
        // Directly: this pool has no watch.
        worker::work(self, seat, entry).into_iter().for_each(Addressee::wake);
        if promise.is_some() {
            self.keep(&mut lock(&self.state), promise);
        }
        true
    }

    /// The worker at that seat has kept these promises.
    fn report(&self, state: &mut State, seat: Seat) {
        let State { lanes, promises, .. } = state;
        let Some(worker) = lanes[seat.lane as usize].workers.get(seat.queue) else { return };
        worker.answers.report(|promise| promises.keep(promise));
        self.tell_waiters();
    }

    fn keep(&self, state: &mut State, promise: Option<Promise>) {
        if let Some(promise) = promise {
            state.promises.keep(promise);
            self.tell_waiters();
        }
    }

    fn tell_waiters(&self) {
        if self.waiters.load(Ordering::Relaxed) > 0 {
            self.kept.notify_all();
        }
    }

    /// A worker has noted a promise that it kept.
    ///
    /// Relaxed: the worker's list has a lock. Either the thread that waits finds the promise there, or it took the list before, and
    /// had counted itself before that.
    pub fn has_kept(&self) {
        if self.waiters.load(Ordering::Relaxed) > 0 {
            let _state = lock(&self.state);
            self.kept.notify_all();
        }
    }

    /// Waits until these promises are kept, or for the pool's `exit_timeout`. Returns how many are left, and how long it was waited.
    /// Does not wait in a pool without threads, nor on one of its own threads.
    pub fn await_promises(&self, of: Of) -> (usize, Duration) {
        let began = Instant::now();
        let mut state = lock(&self.state);
        if self.settings.threads == 0 {
            return (0, Duration::ZERO);
        }
        if let Of::Everybody = of {
            state.promises.close();
        }
        self.waiters.fetch_add(1, Ordering::Relaxed);
        let left = loop {
            let State { lanes, promises, .. } = &mut *state;
            for worker in lanes.iter().flat_map(|lane| &lane.workers) {
                worker.answers.report(|promise| promises.keep(promise));
            }
            let left = promises.owed(of);
            // Only where it has to wait: a library that is unloaded ends its pools, too, and the standard library's handle of a
            // thread leaves a destructor behind, whose code would be gone when the thread ends.
            if left == 0 || state.threads.contains(&thread::current().id()) {
                break 0;
            }
            let rest = self.settings.exit_timeout.saturating_sub(began.elapsed());
            if rest.is_zero() {
                break left;
            }
            state = wait_timeout(&self.kept, state, rest).0;
        };
        self.waiters.fetch_sub(1, Ordering::Relaxed);
        (left, began.elapsed())
    }

    /// Whether any of these promises is not known to be kept.
    pub fn owes(&self, of: Of) -> bool {
        lock(&self.state).promises.owed(of) > 0
    }

    /// The next job of a pool without threads, and where it was.
    // A function of its own: inlined, its loop would have fewer registers for the sake of a probe that nobody looks at.
    #[inline(never)]
    fn take_one(self: &Arc<Self>) -> Option<(Seat, Entry)> {
        Lane::ALL.into_iter().find_map(|lane| {
            let seat = Seat { lane, queue: 0 };
            let mut state = lock(&self.state);
            let (works, wakes) = self.take(&mut state, seat, 1, Time::now());
            let hand = (works > 0).then(|| state.lane(lane).queues.hand(0));
            drop(state);
            if let Some(wakes) = wakes {
                wakes.into_iter().for_each(Wake::ring);
            }
            Some((seat, hand?.pop()?))
        })
    }

    /// Takes so many jobs at most into a worker's hand; answers how many. The first of the line get the room (step b).
    fn take(self: &Arc<Self>, state: &mut State, seat: Seat, most: usize, now: Time) -> (usize, Option<Vec<Wake>>) {
        let LaneState { queues, wait, .. } = state.lane(seat.lane);
        let taken = queues.take(seat.queue, most, |entry| wait.record(now.since(entry.submitted)));
        let wakes = state.busy.is_some().then(|| self.let_in_line(state, seat, now));
        (taken, wakes)
    }

    pub fn metrics(&self) -> Metrics {
        let mut state = lock(&self.state);
        let mut metrics = Metrics { in_line: state.line.length(), ..Metrics::default() };
        for lane in Lane::ALL {
            let LaneState { queues, wait, service, .. } = state.lane(lane);
            let shown = metrics.lane(lane);
            shown.queued = queues.waiting();
            shown.threads = if self.settings.threads == 0 { 0 } else { queues.workers() };
            shown.idle = queues.count(|worker| worker == Doing::Idle);
            shown.stuck = queues.count(|worker| matches!(worker, Doing::Stuck(_)));
            shown.operations = wait.count();
            shown.wait = wait.clone();
            shown.service = service.clone();
        }
        metrics
    }

    /// The last handle is gone. What is queued is still worked off, if there is anybody to do it.
    pub fn close(&self) {
        let threads = lock(&self.state).threads.len();
        self.end(Phase::Closing, threads == 0);
    }

    /// Refuses what is queued, and waits for the threads, unless this is one of them.
    pub fn shut_down(&self) {
        self.end(Phase::ShutDown, true);
        let this = thread::current().id();
        let mut state = lock(&self.state);
        if !state.threads.contains(&this) {
            while !state.threads.is_empty() {
                state = wait(&self.ended, state);
            }
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
                queued.extend(state.lane(lane).queues.drain().into_iter().map(|(entry, length)| (entry, length, lane)));
            }
            waiting.extend(std::iter::from_fn(|| state.line.next()));
            for entry in queued.iter().map(|(entry, ..)| entry).chain(&waiting) {
                self.keep(&mut state, entry.promise);
            }
            self.has_room(&mut state);
        }
        let workers = state.lanes.iter().flat_map(|lane| &lane.workers).map(|worker| Arc::clone(&worker.bell));
        let bells: Vec<_> = workers.chain([Arc::clone(&self.watch)]).collect();
        drop(state);
        for bell in bells {
            bell.notify_one();
        }
        for (entry, length, lane) in queued {
            probes::get(|| (entry.port, length as i32, lane.number()));
            entry.job.refuse(Fault::ShutDown);
        }
        for entry in waiting {
            entry.job.refuse(Fault::ShutDown);
        }
    }
}

impl State {
    pub fn lane(&mut self, lane: Lane) -> &mut LaneState {
        &mut self.lanes[lane as usize]
    }

    /// How many jobs stand in queues, hands not counted.
    pub fn queued(&self) -> usize {
        self.lanes.iter().map(|lane| lane.queues.queued()).sum()
    }

    /// Whether there are jobs in queues and hands that have not begun, or answers that were not told.
    pub fn is_anybody_waiting(&self) -> bool {
        self.lanes
            .iter()
            .any(|lane| lane.queues.waiting() > 0 || lane.workers.iter().any(|worker| !worker.answers.is_empty()))
    }

    /// An idle worker is to be woken.
    pub fn wake(&mut self, seat: Seat) -> Wake {
        let LaneState { queues, workers, .. } = self.lane(seat.lane);
        queues.set(seat.queue, Doing::Woken);
        Wake { worker: Some(Arc::clone(&workers[seat.queue].bell)), ..Wake::default() }
    }

    /// Whether the pool has ended, but for the thread that asks.
    pub fn is_last_thread(&self) -> bool {
        self.phase != Phase::Open && self.threads.len() == 1
    }
}
