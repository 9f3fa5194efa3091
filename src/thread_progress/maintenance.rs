//! The maintenance thread: does what no thread of the program is to do or to wait for.
//!
//! There is one while there are jobs, and a while longer; a forked child starts its own. It takes no signal, so that no handler
//! of the program runs on it.

use std::future::Future;
use std::io;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use super::fork::prepare;
use super::os;
use super::per_process::PerProcess;
use crate::sync::thread::{Builder, Thread};
use crate::sync::{Mutex, doze, global, lock};

/// How long it stays when there is nothing to do.
const LINGER: Duration = Duration::from_secs(1);

global! {
    static STATE: PerProcess<Mutex<State>> = PerProcess::new();
}

#[derive(Default)]
struct State {
    /// But for those that are being done.
    jobs: Vec<Job>,
    thread: Option<Thread>,
}

/// Answers when it is to be done again at the latest, and `None` when it is done for good.
type Job = Box<dyn FnMut() -> Option<Duration> + Send>;

/// Has `job` done soon, and as often as it asks for, or more often: all are done whenever the thread is awake. It must not wait
/// for anything, since the others wait for it. One that panics is not done again.
///
/// # Errors
///
/// There is no thread to be had. Then the job is dropped.
pub(crate) fn give(job: impl FnMut() -> Option<Duration> + Send + 'static) -> io::Result<()> {
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

/// Polls the future to its end: for what a dropped future has left. It must not block, and one that panics is not polled again.
///
/// # Errors
///
/// There is no thread to be had. Then the future is dropped.
pub(crate) fn complete(future: impl Future<Output = ()> + Send + 'static) -> io::Result<()> {
    let mut future = Box::pin(future);
    let waker = Waker::from(Arc::new(Alarm));
    give(move || match future.as_mut().poll(&mut Context::from_waker(&waker)) {
        Poll::Ready(()) => None,
        Poll::Pending => Some(LINGER),
    })
}

/// Ends the thread's pause.
struct Alarm;

impl Wake for Alarm {
    fn wake(self: Arc<Alarm>) {
        if let Some(thread) = &lock(STATE.get()).thread {
            thread.unpark();
        }
    }
}

fn run(shared: &Mutex<State>) {
    loop {
        // Without the lock: jobs may be given meanwhile.
        let mut jobs = mem::take(&mut lock(shared).jobs);
        let is_idle = jobs.is_empty();
        let mut pause = LINGER;
        jobs.retain_mut(|job| {
            let next = catch_unwind(AssertUnwindSafe(job)).unwrap_or(None);
            pause = pause.min(next.unwrap_or(LINGER));
            next.is_some()
        });
        let mut state = lock(shared);
        if is_idle && state.jobs.is_empty() {
            state.thread = None;
            return;
        }
        state.jobs.append(&mut jobs);
        drop(state);
        doze(pause);
    }
}
