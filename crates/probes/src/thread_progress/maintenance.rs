//! The maintenance thread: runs jobs for which no thread of the program should work or wait.
//!
//! It lives while there are jobs, and 1 to 2 s longer; a forked child starts its own. It blocks all signals, so that no handler of the
//! program runs on it.

use std::future::Future;
use std::io;
use std::mem;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use super::os;
use super::per_process::PerProcess;
use super::prepare::prepare;
use crate::contain::contain;
use crate::primitives::thread::{Builder, Thread};
use crate::primitives::{Mutex, doze, global, lock};

/// How long the thread stays without jobs.
const LINGER: Duration = Duration::from_secs(1);

global! {
    static STATE: PerProcess<Mutex<MaintenanceState>> = PerProcess::new(forget);
}

#[derive(Default)]
struct MaintenanceState {
    /// Without those that the thread is running.
    jobs: Vec<Job>,
    thread: Option<Thread>,
}

/// Returns after which time to run it again at the latest, or `None` when it is done.
type Job = Box<dyn FnMut() -> Option<Duration> + Send>;

/// Runs `job` on the maintenance thread, soon, and again as often as it asks for, or more often: the thread runs all jobs whenever it is
/// awake. A job must not block, because the others wait for it. A job that panics is not run again.
/// The thread also outlives a panic of the job's destructor.
///
/// # Errors
///
/// The system gives no thread. Then the job is dropped.
pub fn give(job: impl FnMut() -> Option<Duration> + Send + 'static) -> io::Result<()> {
    prepare()?;
    let shared = STATE.get();
    let mut state = lock(shared);
    match &state.thread {
        Some(thread) => thread.unpark(),
        None => {
            let thread = Builder::new().name("dyntrace-progress".into());
            let handle = os::without_signals(|| thread.spawn(|| run(shared)))?;
            state.thread = Some(handle.thread().clone());
        }
    }
    state.jobs.push(Box::new(job));
    Ok(())
}

/// Polls a future to its end on the maintenance thread. The future must not block. One that panics is not polled again.
///
/// # Errors
///
/// The system gives no thread. Then the future is dropped.
pub fn complete(future: impl Future<Output = ()> + Send + 'static) -> io::Result<()> {
    let mut future = Box::pin(future);
    let waker = Waker::from(Arc::new(Alarm));
    give(move || match future.as_mut().poll(&mut Context::from_waker(&waker)) {
        Poll::Ready(()) => None,
        Poll::Pending => Some(LINGER),
    })
}

/// Wakes the maintenance thread.
struct Alarm;

impl Wake for Alarm {
    fn wake(self: Arc<Alarm>) {
        if let Some(thread) = &lock(STATE.get()).thread {
            thread.unpark();
        }
    }
}

/// Runs in a forked child.
extern "C" fn forget() {
    STATE.forget();
}

fn run(shared: &Mutex<MaintenanceState>) {
    loop {
        // Run without the lock: other threads may add jobs meanwhile.
        let jobs = mem::take(&mut lock(shared).jobs);
        let is_idle = jobs.is_empty();
        let mut pause = LINGER;
        let run_once = |mut job: Job| match contain(&mut job).flatten() {
            Some(next) => {
                pause = pause.min(next);
                Some(job)
            }
            None => {
                // It drops wakers and futures of the program.
                contain(|| drop(job));
                None
            }
        };
        let mut unfinished: Vec<Job> = jobs.into_iter().filter_map(run_once).collect();
        let mut state = lock(shared);
        if is_idle && state.jobs.is_empty() {
            state.thread = None;
            return;
        }
        state.jobs.append(&mut unfinished);
        drop(state);
        doze(pause);
    }
}
