//! The handle of a task.

use std::fmt;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::task::{AbortHandle, Id, JoinError};

use crate::process::Pid;
use crate::waiting::{OfProcess, Waiting};

/// Waits for the end of a process that [`spawn`](super::spawn) or one of its kin has started: a future, with the shape of
/// [`tokio::task::JoinHandle`].
///
/// The wait fires `process-wait` and `process-resume`. Its resource is the pid of the process; its place is the call that started the
/// process.
///
/// If the handle is awaited by reference (`&mut handle` in `select!`), its wait ends when it is ready or dropped, also while nobody
/// polls it.
///
/// Dropping the handle leaves the process running. `From` and [`into_inner`](JoinHandle::into_inner) return tokio's handle.
///
/// ```
/// use dyntrace::task::JoinHandle;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), tokio::task::JoinError> {
/// let handle: JoinHandle<_> = dyntrace::spawn(async { dyntrace::process::current() });
/// let pid = handle.pid();
/// assert_eq!(handle.await?, pid);
/// # Ok(())
/// # }
/// ```
pub struct JoinHandle<T> {
    waiting: Waiting<tokio::task::JoinHandle<T>, OfProcess>,
}

impl<T> JoinHandle<T> {
    #[track_caller]
    pub(super) fn new(pid: Pid, handle: tokio::task::JoinHandle<T>) -> JoinHandle<T> {
        let ends = OfProcess::new(pid, "task::JoinHandle");
        JoinHandle { waiting: Waiting::new(ends, Location::caller(), handle) }
    }

    /// Returns the pid of the process.
    pub fn pid(&self) -> Pid {
        self.waiting.resource().pid()
    }

    /// Drops the future of the process at its next await, unless it has ended by then; the handle returns an error then. A closure of
    /// [`spawn_blocking`](super::spawn_blocking) that runs is not aborted.
    pub fn abort(&self) {
        self.waiting.get_ref().abort();
    }

    /// Whether the task has ended. After [`abort`](JoinHandle::abort) that takes until its future is dropped.
    pub fn is_finished(&self) -> bool {
        self.waiting.get_ref().is_finished()
    }

    /// Returns tokio's id of the task.
    pub fn id(&self) -> Id {
        self.waiting.get_ref().id()
    }

    /// Returns a handle that aborts the task, and does not wait for it.
    #[must_use = "abort handles do nothing unless `.abort` is called"]
    pub fn abort_handle(&self) -> AbortHandle {
        self.waiting.get_ref().abort_handle()
    }

    /// Returns tokio's handle. Tracers do not see its waits.
    #[must_use = "the task goes on without its handle"]
    pub fn into_inner(self) -> tokio::task::JoinHandle<T> {
        self.waiting.into_inner()
    }
}

impl<T> Future for JoinHandle<T> {
    type Output = Result<T, JoinError>;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.waiting).poll(context)
    }
}

impl<T> From<JoinHandle<T>> for tokio::task::JoinHandle<T> {
    fn from(handle: JoinHandle<T>) -> tokio::task::JoinHandle<T> {
        handle.into_inner()
    }
}

impl<T: fmt::Debug> fmt::Debug for JoinHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.waiting.fmt(f)
    }
}
