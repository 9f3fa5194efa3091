//! Processes that are started in other ways than by dyntrace's functions.

use std::pin::Pin;
use std::task::{Context, Poll};

use super::life::ProcessKind;
use super::{OwnProcess, Pid, process};

/// Makes a process of a future, for whatever runs it: `JoinSet::spawn_on`, another runtime, the branch of a `join!`.
///
/// It is the process that [`spawn`](crate::task::spawn) starts: it has a pid of its own, and inherits tag and sequential trace token of the
/// process that calls `child`, as they are now.
///
/// ```
/// use dyntrace::process;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), tokio::task::JoinError> {
/// let request = dyntrace::with_tag("request 7", async {
///     let child = tokio::spawn(process::child(async { (process::current(), dyntrace::get_tag()) }));
///     (process::current(), child.await)
/// });
/// let (parent, child) = request.await;
/// let (pid, tag) = child?;
/// assert_ne!(pid, parent);
/// assert_eq!(tag.as_deref(), Some("request 7"));
/// # Ok(())
/// # }
/// ```
#[track_caller]
pub fn child<F: Future>(future: F) -> Child<F> {
    local(Pid::next(), future)
}

/// [`child`] as process `pid`.
#[track_caller]
pub fn local<F: Future>(pid: Pid, future: F) -> Child<F> {
    Child { process: process(pid, ProcessKind::Future, future) }
}

/// The same for a future that becomes a task of the current runtime.
#[track_caller]
pub(super) fn task<F: Future>(pid: Pid, future: F) -> Child<F> {
    Child { process: process(pid, ProcessKind::Task, future) }
}

pin_project_lite::pin_project! {
    /// The future of [`child`].
    #[must_use = "futures do nothing unless polled"]
    pub struct Child<F> {
        #[pin]
        process: OwnProcess<F>,
    }
}

impl<F: Future> Future for Child<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        self.project().process.poll(context)
    }
}
