//! Jobs that a driver submits to the pool, and the errors of their submission.

use std::io;

use dyntrace_probes::sdt::Decision;

use super::counts::Counts;
use super::directories::Changes;
use super::lane::Lane;

/// One piece of blocking work.
pub trait Job: Send + 'static {
    /// The result of the job.
    type Output: Send + 'static;

    /// Returns the lane whose threads run the job. Called once, on submission.
    fn lane(&self) -> Lane {
        Lane::Fast
    }

    /// Returns which directories the job changes: while one worker changes a directory, further jobs that change it go there. Called once, on
    /// submission.
    #[doc(hidden)]
    fn changes(&self) -> Changes {
        Changes::NONE
    }

    /// Returns whether the job runs no code of others. Such code may start a thread or a process, which has the processors of its creator,
    /// so it does not run on a worker that is bound to one. Called once, on submission.
    #[doc(hidden)]
    fn may_be_bound(&self) -> bool {
        false
    }

    /// Returns the recorder sessions that record the job's pool probes. Called once, on submission.
    #[doc(hidden)]
    fn taken(&self) -> Decision {
        Decision::ALL
    }

    /// Runs the job on an I/O thread. Called at most once. May block.
    ///
    /// The pool catches a panic and ends this job alone, with [`Fault::Panicked`].
    fn run(&mut self) -> Self::Output;

    /// Called after `run` and `count`, on the same thread, even if `run` panicked. The pool catches and ignores a panic in it.
    fn ran(&mut self) {}

    /// Counts the job's operations for [`metrics`](super::metrics), with one [`Counts::add`] for each. Called right after `run`, on the
    /// same thread. `output` is `None` if `run` panicked. The default counts nothing. The pool catches and ignores a panic in it.
    fn count(&self, output: Option<&Self::Output>, counts: &mut Counts) {
        let _ = (output, counts);
    }

    /// Receives the outcome. Called exactly once for each submitted job, unless its [`Operation`] is leaked.
    ///
    /// The caller is
    /// - the awaiting task, when it takes the outcome;
    /// - the thread that drops the operation, before the job runs ([`Fault::Cancelled`]) or after it has run;
    /// - the I/O thread, if the operation was dropped while the job ran;
    /// - for jobs without an operation ([`Pool::submit_detached`]), the I/O thread or the thread that refuses the job.
    ///
    /// It must be short and must not block. The pool catches a panic in it; the outcome stays the same.
    ///
    /// [`Operation`]: super::Operation
    /// [`Pool::submit_detached`]: super::Pool::submit_detached
    fn settle(&mut self, outcome: Result<&Self::Output, &Fault>);

    /// Returns whether [`settle`](Job::settle) does anything now; otherwise the pool may leave it out. Asked at each settlement, before the
    /// pool looks at the job and its outcome.
    #[doc(hidden)]
    #[inline(always)]
    fn hears_outcome() -> bool {
        true
    }
}

/// Why a job has no output.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// The operation was dropped before the job ran.
    #[error("the operation was dropped before an I/O thread ran its job: nothing was done")]
    Cancelled,
    /// The job panicked. It may have done part of its work.
    #[error("the job panicked on its I/O thread; the panic hook (standard error, unless replaced) has the message")]
    Panicked,
    /// The pool was shut down before the job ran.
    #[error("the pool of I/O threads was shut down before the job ran: nothing was done")]
    ShutDown,
    /// The pool has no thread, and the system refused to start one.
    #[error(
        "cannot start an I/O thread: {0}; nothing was done; free memory or allow more threads (ulimit -u, pids.max)"
    )]
    NoThread(io::Error),
}
