//! The waits of processes: futures that fire `process-wait` and `process-resume`.
//!
//! [`wait`] gives any future a name. Futures of `sync`, `time`, `net`, `mailbox` and `dist`, of [`JoinHandle`](crate::task::JoinHandle)s and
//! [`JoinSet`](crate::task::JoinSet)s, and of calls into modules have theirs. File operations have probes of their own, `efile_drv-*`; the
//! table of tasks has their waits, too.
//!
//! A wait that another process ends has that process as its resource: the end of a task, or room in its mailbox. A process that waits for
//! a message has itself. So tracers, and `dyntrace why` for a program that keeps a table of its tasks, follow a chain from task to task.

mod future;
mod kind;
mod of_process;
mod polled;
mod resource;

use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll};

use future::Named;

#[doc(hidden)]
pub use self::{
    future::{Limit, Resolver, Timer, Waited, Waiting, is_watched},
    kind::{Operation, ResourceKind},
    of_process::{OfProcess, OneOf, OwnMailbox},
    polled::Polled,
    resource::{Half, In, Numbered, On, Resource},
};

/// Awaits a future, and shows tracers under which name and how long the process waits for it.
///
/// If the first poll returns pending, `process-wait` fires; when the wait ends, `process-resume`. Nothing fires for a future that is
/// ready at once. While no tracer is attached, each of the two costs two instructions.
///
/// The end of a wait is one of three: the future completes, it panics, or it is dropped before that, by `select!`, a timeout or an
/// aborted task. A future that is forgotten ([`std::mem::forget`]) waits for ever.
///
/// If the future has a wait of its own, such as that for a lock of `dyntrace::sync`, tracers see both. The table of tasks has the
/// inner one while it lasts.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), tokio::task::JoinError> {
/// let price = tokio::spawn(async { 130 });
/// assert_eq!(dyntrace::wait("price", price).await?, 130);
/// # Ok(())
/// # }
/// ```
#[track_caller]
pub fn wait<F: IntoFuture>(name: &'static str, future: F) -> Wait<F::IntoFuture> {
    Wait { waiting: Waiting::new(Named(name), Location::caller(), future.into_future()) }
}

pin_project_lite::pin_project! {
    /// The future of [`wait`].
    #[must_use = "futures do nothing unless polled"]
    pub struct Wait<F> {
        #[pin]
        waiting: Waiting<F, Named>,
    }
}

impl<F: Future> Future for Wait<F> {
    type Output = F::Output;

    #[inline]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        self.project().waiting.poll(context)
    }
}
