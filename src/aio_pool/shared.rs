//! What the handles of a pool, its operations and its workers share: the lock, and each step taken under it.

use std::io;
use std::sync::Arc;

use super::operation::Job;
use super::port::Port;
use super::queue::{Queues, Taken, Ticket};
use super::work::Fault;
use super::worker;
use crate::probes::aio_pool as probes;
use crate::sync::thread::{self, JoinHandle, ThreadId};
use crate::sync::{Condvar, Mutex, lock, wait};

/// Starts a thread of the given name.
pub(super) type Spawn = dyn Fn(String, Box<dyn FnOnce() + Send>) -> io::Result<JoinHandle<()>> + Send + Sync;

pub(super) struct Shared {
    state: Mutex<State>,
    /// At most so many workers. 0: `run_one` does their work.
    threads: usize,
    spawn: Box<Spawn>,
    /// The threads not yet joined. Locked while they are, so that a second shutdown waits as the first does; it may be
    /// locked under `state`, never the other way round.
    joining: Mutex<Vec<JoinHandle<()>>>,
}

struct State {
    queues: Queues<Entry>,
    /// Each worker that was ever started, in the order of the queues.
    workers: Vec<Worker>,
    phase: Phase,
}

struct Worker {
    thread: ThreadId,
    /// What it sleeps on while it is idle.
    bell: Arc<Condvar>,
}

#[derive(Clone, Copy, PartialEq)]
enum Phase {
    Open,
    /// The last handle is gone: workers end when nothing is queued.
    Closing,
    ShutDown,
}

#[derive(Clone)]
pub(super) struct Entry {
    pub port: Port,
    pub job: Arc<dyn Job>,
}

/// Whom to wake once the lock is free (so that the woken one does not run into it).
type Wake = Option<Arc<Condvar>>;

impl Shared {
    pub fn new(threads: usize, bound: usize, spawn: Box<Spawn>) -> Self {
        let mut queues = Queues::new(bound);
        if threads == 0 {
            queues.open();
        }
        let state = State { queues, workers: Vec::new(), phase: Phase::Open };
        Shared { state: Mutex::new(state), threads, spawn, joining: Mutex::new(Vec::new()) }
    }

    /// Takes in a job: into a queue, or into the line if they are full (then there is a ticket), or not at all: then it is
    /// refused here.
    pub fn add(self: &Arc<Self>, entry: Entry) -> Option<Ticket> {
        let mut state = lock(&self.state);
        if state.phase == Phase::ShutDown {
            drop(state);
            entry.job.refuse(Fault::ShutDown);
            return None;
        }
        if state.queues.are_full() {
            return Some(state.queues.stand_in_line(entry));
        }
        match self.choose(&mut state) {
            Ok(queue) => {
                let wake = state.push(queue, entry);
                drop(state);
                ring(wake);
            }
            Err(error) => {
                drop(state);
                entry.job.refuse(Fault::NoThread(error));
            }
        }
        None
    }

    /// The queue for a new job: that of an idle worker, of a new one, or the shortest. The error says why there is none.
    fn choose(self: &Arc<Self>, state: &mut State) -> io::Result<usize> {
        match state.queues.idle() {
            Some(idle) => Ok(idle),
            None => self.start_worker(state).or_else(|error| state.queues.shortest().ok_or(error)),
        }
    }

    /// Starts one more worker, with the lock held: it happens few times in the life of a pool, and so the worker's queue
    /// is there if and only if the worker is.
    fn start_worker(self: &Arc<Self>, state: &mut State) -> io::Result<usize> {
        let number = state.workers.len();
        if number == self.threads {
            return Err(io::Error::other("all I/O threads are started"));
        }
        let bell = Arc::new(Condvar::new());
        let run = {
            let (shared, bell) = (Arc::clone(self), Arc::clone(&bell));
            move || worker::run(&shared, number, &bell)
        };
        let handle = (self.spawn)(format!("dyntrace-io-{}", number + 1), Box::new(run))?;
        state.workers.push(Worker { thread: handle.thread().id(), bell });
        lock(&self.joining).push(handle);
        Ok(state.queues.open())
    }

    /// The next job for a worker; sleeps until there is one. `None`: the worker is to end.
    pub fn next(self: &Arc<Self>, worker: usize, bell: &Condvar) -> Option<Taken<Entry>> {
        let mut state = lock(&self.state);
        loop {
            if let Some((taken, wake)) = self.take(&mut state, Some(worker)) {
                drop(state);
                ring(wake);
                return Some(taken);
            }
            if state.phase != Phase::Open {
                return None;
            }
            state.queues.set_idle(worker, true);
            state = wait(bell, state);
            state.queues.set_idle(worker, false);
        }
    }

    /// A job for whoever asks; does not sleep.
    pub fn take_any(self: &Arc<Self>) -> Option<Taken<Entry>> {
        let mut state = lock(&self.state);
        let (taken, wake) = self.take(&mut state, None)?;
        drop(state);
        ring(wake);
        Some(taken)
    }

    /// Takes a job out of the queues; the first of the line, if any, gets the room (step b).
    fn take(self: &Arc<Self>, state: &mut State, own: Option<usize>) -> Option<(Taken<Entry>, Wake)> {
        let taken = state.queues.take(own)?;
        let wake = state.queues.next_in_line().and_then(|next| self.let_in(state, next, taken.queue));
        Some((taken, wake))
    }

    /// Puts the first of the line into a queue: in `shorter` at least there is room now.
    #[cold]
    fn let_in(self: &Arc<Self>, state: &mut State, next: Entry, shorter: usize) -> Wake {
        let queue = self.choose(state).unwrap_or(shorter);
        state.push(queue, next)
    }

    /// The operation that has this ticket was dropped.
    pub fn leave_line(&self, ticket: Ticket) {
        // Bound to a name, the entry is dropped after the guard.
        let entry = lock(&self.state).queues.leave_line(ticket);
        drop(entry);
    }

    /// The last handle is gone. What is queued is still worked off, if there is anybody to do it.
    pub fn close(&self) {
        let workers = lock(&self.state).workers.len();
        self.end(Phase::Closing, workers == 0);
    }

    /// Refuses what is queued, and waits for the threads, unless this is one of them.
    pub fn shut_down(&self) {
        self.end(Phase::ShutDown, true);
        let this = thread::current().id();
        if lock(&self.state).workers.iter().all(|worker| worker.thread != this) {
            let mut joining = lock(&self.joining);
            for handle in joining.drain(..) {
                // A worker contains every panic.
                let _ = handle.join();
            }
        }
    }

    fn end(&self, phase: Phase, refuse: bool) {
        let mut state = lock(&self.state);
        if state.phase != Phase::ShutDown {
            state.phase = phase;
        }
        let mut queued = Vec::new();
        let mut waiting = Vec::new();
        if refuse {
            queued.extend(std::iter::from_fn(|| state.queues.take(None)));
            waiting.extend(std::iter::from_fn(|| state.queues.next_in_line()));
        }
        let bells: Vec<_> = state.workers.iter().map(|worker| Arc::clone(&worker.bell)).collect();
        drop(state);
        for bell in bells {
            bell.notify_one();
        }
        for taken in queued {
            taken.announce().refuse(Fault::ShutDown);
        }
        for entry in waiting {
            entry.job.refuse(Fault::ShutDown);
        }
    }
}

impl State {
    /// Puts a job into a queue. `aio_pool-add` is fired under the lock: else a trace could show a job taken before it was
    /// added. While nobody looks that costs nothing.
    #[inline]
    fn push(&mut self, queue: usize, entry: Entry) -> Wake {
        let port = entry.port;
        let length = self.queues.push(queue, entry);
        probes::add(|| (port, length as i32));
        self.queues.set_idle(queue, false).then(|| Arc::clone(&self.workers[queue].bell))
    }
}

impl Taken<Entry> {
    /// Fires `aio_pool-get`: out of the lock, so a trace may show it after a later step of the same queue.
    #[inline(always)]
    pub fn announce(self) -> Arc<dyn Job> {
        probes::get(|| (self.job.port, self.length as i32));
        self.job.job
    }
}

fn ring(wake: Wake) {
    if let Some(bell) = wake {
        bell.notify_one();
    }
}
