//! The watch: a thread that finds out when jobs stand behind a worker that sleeps in one, or answers do.
//!
//! A job may be put behind a worker that is to come to it soon. If that one then waits for a disk, or for whoever opens the other end
//! of a FIFO, the job would wait with it, and so would they whom it has [answers](super::answers) for. So:
//!
//! 1. Whoever puts a job behind a busy worker calls the watch, unless it is up already.
//! 2. The watch looks every [`PERIOD`]. Where jobs or answers wait, each worker that does what it took for longer than [`PATIENCE`] is a suspect.
//! 3. Out of the lock, it tells whom they have answered, and asks the system which of them sleep.
//! 4. Of those that still do the same, what they have in hand goes back to their queues, and an idle worker is woken, which takes it.
//! 5. Those that sleep are stuck now: no job is put behind them until they come back, and if nobody is idle, another worker is
//!    started in their place. One that works, or waits for a processor, needs none.
//! 6. It looks at the answers that the drivers of runtimes have not taken, and wakes those tasks itself ([`delivery`](super::delivery)).
//! 7. When it has found nothing that waits for a while, it sleeps until it is called.

use std::sync::Arc;
use std::time::Duration;

use super::answers::Answers;
use super::clock::Time;
use super::lane::Lane;
use super::queue::Doing;
use super::runtimes;
use super::shared::{self, Shared, Wake};
use crate::sync::{lock, wait, wait_timeout};

const PERIOD: Duration = Duration::from_millis(1);

/// Who sleeps in a job for longer is not waited for. A lock that is taken by a thread without a processor takes less.
const PATIENCE: Duration = Duration::from_millis(4);

/// Looks without anything queued before it sleeps.
const QUIET: u32 = 16;

/// What the pool's lock guards of it. Loom's models have none: there every job has its worker woken.
pub(super) struct State {
    is_there: bool,
    is_up: bool,
}

impl State {
    pub fn new() -> Self {
        State { is_there: cfg!(loom), is_up: cfg!(loom) }
    }

    pub fn is_there(&self) -> bool {
        self.is_there
    }

    pub fn is_started(&mut self) {
        self.is_there = true;
    }

    /// Step 1; answers whether it has to be woken.
    pub fn call(&mut self) -> bool {
        !std::mem::replace(&mut self.is_up, true)
    }

    /// Step 7.
    pub fn sleeps(&mut self) {
        self.is_up = false;
    }
}

/// What the thread does, until it is the pool's last.
pub(super) fn run(shared: &Arc<Shared>) {
    let mut state = lock(&shared.state);
    let mut quiet = 0;
    while !state.is_last_thread() {
        if !state.watch.is_up {
            state = wait(&shared.watch, state);
            continue;
        }
        state = wait_timeout(&shared.watch, state, PERIOD).0;
        quiet = if state.is_anybody_waiting() { 0 } else { quiet + 1 };
        if quiet == QUIET {
            quiet = 0;
            shared.watch_sleeps(&mut state);
        }
        // After it was said that the watch sleeps: an answer that comes later calls it.
        drop(state);
        let are_left = runtimes::look();
        state = lock(&shared.state);
        if are_left {
            quiet = 0;
            // This thread is the one that it would wake.
            let _ = shared.watch_to_wake(&mut state);
        }
        let suspects: Vec<_> = Lane::ALL.into_iter().flat_map(|lane| suspects(&mut state, lane)).collect();
        if suspects.is_empty() {
            continue;
        }
        drop(state);
        let has_driver = suspects.iter().fold(false, |any, suspect| suspect.answers.tell(&mut Vec::new()) | any);
        let suspects: Vec<_> = suspects.into_iter().map(|suspect| (suspect.thread.is_asleep(), suspect)).collect();
        state = lock(&shared.state);
        if has_driver {
            let _ = shared.watch_to_wake(&mut state);
        }
        for (is_asleep, suspect) in suspects {
            relieve(shared, &mut state, &suspect, is_asleep).ring();
        }
    }
    drop(state);
    // Nobody looks after it: the second look wakes whatever the first one saw.
    runtimes::look();
    runtimes::look();
    shared.end_thread(&mut lock(&shared.state));
}

struct Suspect {
    seat: shared::Seat,
    doing: Doing,
    thread: super::asleep::ThreadNumber,
    answers: Arc<Answers>,
}

/// Step 2.
fn suspects(state: &mut shared::State, lane: Lane) -> Vec<Suspect> {
    let shared::LaneState { queues, workers, .. } = state.lane(lane);
    // A worker that was woken takes one of them.
    let is_told = workers.iter().all(|worker| worker.answers.is_empty());
    if is_told && queues.waiting() <= queues.count(|worker| worker == Doing::Woken) {
        return Vec::new();
    }
    let suspects = queues.suspects(PATIENCE, Time::now()).into_iter().filter_map(|(queue, turn)| {
        let worker = workers.get(queue)?;
        let (thread, answers) = (worker.number?, Arc::clone(&worker.answers));
        Some(Suspect { seat: shared::Seat { lane, queue }, doing: Doing::Busy(turn), thread, answers })
    });
    suspects.collect()
}

/// Steps 4 and 5.
fn relieve(shared: &Arc<Shared>, state: &mut shared::State, suspect: &Suspect, is_asleep: bool) -> Wake {
    let shared::Seat { lane, queue } = suspect.seat;
    let queues = &mut state.lane(lane).queues;
    let (true, Doing::Busy(turn)) = (queues.doing(queue) == suspect.doing, suspect.doing) else {
        return Wake::default();
    };
    queues.give_back(queue);
    if is_asleep {
        queues.set(queue, Doing::Stuck(turn));
    }
    match queues.idle() {
        Some(idle) => state.wake(shared::Seat { lane, queue: idle }),
        None => {
            if is_asleep {
                // No thread to be had: those that there are go on.
                let _ = shared.start_worker(state, lane);
            }
            Wake::default()
        }
    }
}
