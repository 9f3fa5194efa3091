//! Runs hooks and constructors of modules on a thread of their own, since they may never return.
//!
//! A change has one thread for all its blocking work, the job. Each call into the module's code is a *step*, which the maintenance
//! thread watches. When a step exceeds its time limit, the waiting task gets an error. If the step returns after all, the job ends
//! there, and its results are dropped on its thread.

use std::future::{Future as _, poll_fn};
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;
use std::thread;
use std::time::{Duration, Instant};

use dyntrace_probes::forks;
use dyntrace_probes::primitives::{Mutex, lock};
use dyntrace_probes::thread_progress::give;
use tokio::sync::oneshot;

use crate::code::error::Error;
use crate::code::load_error::LoadError;
use crate::code::version::VersionHold;

/// The shortest pause between two checks while no step runs.
const BETWEEN_STEPS: Duration = Duration::from_millis(1);

static GIVEN_UP: AtomicUsize = AtomicUsize::new(0);

/// Returns the number of hooks and constructors that did not return in time since the program began. Their threads and libraries
/// stay.
pub fn given_up() -> usize {
    GIVEN_UP.load(Ordering::Relaxed)
}

/// Blocking work that a task waits for.
pub(crate) struct Job<R> {
    /// The time limit of each step.
    limit: Duration,
    state: Mutex<JobState<R>>,
}

struct JobState<R> {
    /// `None` once it has an answer.
    waiter: Option<oneshot::Sender<Result<R, Error>>>,
    step: Option<Step>,
}

struct Step {
    name: &'static str,
    of: String,
    since: Instant,
}

/// Runs blocking work on a thread of its own, and awaits its result. If the future is dropped, the work continues and its result is
/// dropped. In a child that was forked meanwhile, which does not have the thread, the next poll returns an error.
pub(crate) async fn run_job<R: Send + 'static>(
    name: &'static str,
    limit: Duration,
    run: impl FnOnce(&Job<R>) -> Result<R, Error> + Send + 'static,
) -> Result<R, Error> {
    forks::count().map_err(LoadError::system(|| format!("note that forks do not have the thread {name}")))?;
    let forks = forks::so_far();
    let (job, mut answer) = Job::new(limit);
    let watched = Arc::downgrade(&job);
    let started = give(move || watched.upgrade()?.look()).and_then(|()| {
        let run = move || job.answer(run(&job));
        thread::Builder::new().name(name.into()).spawn(run)
    });
    started.map_err(LoadError::system(|| format!("start a thread for {name}")))?;
    let answer = poll_fn(|cx| match Pin::new(&mut answer).poll(cx) {
        Poll::Pending if forks != forks::so_far() => Poll::Ready(None),
        answer => answer.map(Result::ok),
    });
    answer.await.unwrap_or_else(|| {
        let why = if forks == forks::so_far() { "it ended without one" } else { "a forked child does not have it" };
        let source = io::Error::other(why);
        Err(LoadError::System { doing: format!("get the result of the thread {name}"), source }.into())
    })
}

impl<R> Job<R> {
    fn new(limit: Duration) -> (Arc<Job<R>>, oneshot::Receiver<Result<R, Error>>) {
        let (waiter, answer) = oneshot::channel();
        (Arc::new(Job { limit, state: Mutex::new(JobState { waiter: Some(waiter), step: None }) }), answer)
    }

    /// Runs the module's code.
    ///
    /// # Errors
    ///
    /// It returned too late, so that no task waits any more.
    pub(crate) fn step<T>(&self, name: &'static str, of: String, run: impl FnOnce() -> T) -> Result<T, LoadError> {
        lock(&self.state).step = Some(Step { name, of: of.clone(), since: Instant::now() });
        let answer = run();
        match lock(&self.state).step.take() {
            Some(_) => Ok(answer),
            None => Err(LoadError::TooSlow { hook: name, of, limit: self.limit }),
        }
    }

    /// Runs a hook, whose panics `module!` catches. Its version is in use until it returns. The hold comes from the caller, because the
    /// change may drop the version as soon as the step is given up, which may be before `hook` begins.
    pub(crate) fn hook<T>(
        &self,
        name: &'static str,
        held: VersionHold,
        hook: impl FnOnce() -> Result<T, String>,
    ) -> Result<T, LoadError> {
        let of = held.version.image.to_string();
        let run = move || {
            let _held = held;
            hook()
        };
        self.step(name, of.clone(), run)?.map_err(|why| LoadError::Hook { hook: name, of, why })
    }

    fn answer(&self, answer: Result<R, Error>) {
        let waiter = lock(&self.state).waiter.take();
        if let Some(waiter) = waiter {
            drop(waiter.send(answer));
        }
    }

    /// Gives up the step if it exceeds the limit. Returns the time until the next check; `None` if no task waits any more.
    fn look(&self) -> Option<Duration> {
        let mut state = lock(&self.state);
        state.waiter.as_ref()?;
        let Some(step) = &state.step else { return Some(self.limit.max(BETWEEN_STEPS)) };
        let rest = self.limit.saturating_sub(step.since.elapsed());
        if !rest.is_zero() {
            return Some(rest);
        }
        let Step { name, of, .. } = state.step.take()?;
        drop(state);
        GIVEN_UP.fetch_add(1, Ordering::Relaxed);
        self.answer(Err(LoadError::TooSlow { hook: name, of, limit: self.limit }.into()));
        None
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::task::{Context, Waker};

    use super::*;

    const PATIENCE: Duration = Duration::from_secs(60);

    #[tokio::test]
    async fn one_that_returns_is_heard() {
        let answer = run_job("code-prepare", PATIENCE, |job| Ok(job.step("on_load", "pricing 2.1.0".into(), || 7)?));
        assert_eq!(answer.await.unwrap(), 7);
    }

    #[tokio::test]
    async fn one_that_does_not_is_given_up() {
        let (release, held) = mpsc::channel::<()>();
        let (end, ended) = mpsc::channel();
        let before = given_up();
        let wait = move |job: &Job<bool>| {
            let late = job.step("on_load", "pricing 2.1.0".into(), || held.recv().is_err());
            let _ = end.send(late.is_err());
            Ok(late?)
        };
        let error = run_job("code-prepare", Duration::from_millis(20), wait).await.unwrap_err().to_string();
        assert!(error.contains("on_load of pricing 2.1.0") && error.contains("20ms"), "{error}");
        assert_eq!(given_up(), before + 1);
        drop(release);
        assert!(ended.recv().unwrap(), "the work goes on after a step that was given up");
    }

    #[test]
    fn without_patience_it_is_not_looked_at_all_the_time() {
        let (job, _answer) = Job::<()>::new(Duration::ZERO);
        assert_eq!(job.look(), Some(BETWEEN_STEPS));
    }

    #[test]
    fn a_forked_child_does_not_wait_for_a_thread_of_its_parent() {
        let (release, held) = mpsc::channel::<()>();
        let mut answer = Box::pin(run_job("code-prepare", PATIENCE, move |_| Ok(held.recv().is_err())));
        let mut poll = || answer.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        assert!(poll().is_pending());
        // SAFETY: the child polls the future, takes no lock of another thread, and ends by `_exit`.
        let child = unsafe { libc::fork() };
        assert!(child >= 0);
        if child == 0 {
            let is_error = matches!(poll(), Poll::Ready(Err(_)));
            // SAFETY: has no conditions, and runs nothing of the parent's.
            unsafe { libc::_exit(i32::from(!is_error)) };
        }
        let mut status = 0;
        // SAFETY: `status` is writable.
        assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
        assert_eq!(status, 0);
        assert!(poll().is_pending());
        drop(release);
    }

    #[tokio::test]
    async fn one_that_panics_is_an_error() {
        let error = run_job::<()>("code-prepare", PATIENCE, |_| panic!("no flour")).await.unwrap_err().to_string();
        assert!(error.contains("code-prepare"), "{error}");
    }
}
