//! All of [`tokio::task`], with its names and signatures, where [`spawn`], [`spawn_local`] and [`spawn_blocking`] start
//! [processes](crate::process).
//!
//! A [`JoinHandle`] and a [`JoinSet`] know the processes whose ends they wait for, so that tracers see which task waits for which. The
//! other items are tokio's own.
//!
//! ```
//! use dyntrace::task::{self, JoinHandle};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), task::JoinError> {
//! let price: JoinHandle<u32> = task::spawn(async { 130 });
//! assert_eq!(price.await?, 130);
//! # Ok(())
//! # }
//! ```

mod join_handle;
mod members;
mod set;

use crate::process::{self, Pid};

pub use join_handle::JoinHandle;
pub use set::JoinSet;
#[doc(no_inline)]
pub use tokio::task::*;

/// Starts a tokio task that is a process: [`tokio::spawn`] with a pid and user tags of its own.
///
/// Under [`with_tag`](crate::with_tag) the new process has the tag of the current one. Elsewhere it receives that tag if the tag
/// [spreads](crate::spread_tag), else it has none. It inherits the sequential trace token, see [`seq_trace`](crate::seq_trace).
///
/// A [`JoinSet`] does the same for its tasks, [`JoinSetExt`](crate::JoinSetExt) for those of tokio's, [`process::child`] for anything else
/// that takes a future.
///
/// # Panics
///
/// Panics outside of a tokio runtime, as [`tokio::spawn`] does.
///
/// # Cancellation
///
/// As for [`tokio::spawn`]: dropping the handle leaves the task running, [`JoinHandle::abort`] drops the future. The future sees
/// its own pid and tags while it is dropped. If no caller takes the task's output, it is dropped outside of the process.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let child = dyntrace::spawn(async {
///     dyntrace::put_tag("child")?;
///     tokio::task::yield_now().await;
///     Ok::<_, dyntrace::TagError>(dyntrace::get_tag())
/// });
/// assert_eq!(child.await??.as_deref(), Some("child"));
/// assert_eq!(dyntrace::get_tag(), None);
/// # Ok(())
/// # }
/// ```
#[track_caller]
pub fn spawn<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    spawn_as(Pid::next(), future)
}

/// [`spawn`] with a pid that is allocated already.
#[track_caller]
#[doc(hidden)]
pub fn spawn_as<F>(pid: Pid, future: F) -> JoinHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    JoinHandle::new(pid, process::spawn_as(pid, future))
}

/// [`spawn`] for a future that must stay on its thread: [`tokio::task::spawn_local`] with a pid and user tags of its own.
///
/// # Panics
///
/// Panics outside of a [`LocalSet`], as [`tokio::task::spawn_local`] does.
#[track_caller]
pub fn spawn_local<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future + 'static,
    F::Output: 'static,
{
    let pid = Pid::next();
    JoinHandle::new(pid, process::spawn_local_as(pid, future))
}

/// Runs a blocking closure as a process: [`tokio::task::spawn_blocking`] with a pid of its own, and with the tag and token of the
/// current process.
///
/// The closure has the tag that operations of the caller carry now, also one that does not [spread](crate::spread_tag): it does a
/// part of what the caller does. It inherits the sequential trace token like a process started with [`spawn`].
///
/// # Panics
///
/// Panics outside of a tokio runtime, as [`tokio::task::spawn_blocking`] does.
///
/// # Cancellation
///
/// As for [`tokio::task::spawn_blocking`]: a closure that runs cannot be cancelled. A closure that never runs sees its own tag while
/// it is dropped.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// dyntrace::put_tag("import")?;
/// let tag = dyntrace::spawn_blocking(|| {
///     dyntrace::p!("parses");
///     dyntrace::get_tag()
/// });
/// assert_eq!(tag.await?.as_deref(), Some("import"));
/// # Ok(())
/// # }
/// ```
#[track_caller]
pub fn spawn_blocking<F, R>(closure: F) -> JoinHandle<R>
where
    F: FnOnce() -> R + Send + 'static,
    R: Send + 'static,
{
    let pid = Pid::next();
    JoinHandle::new(pid, process::spawn_blocking_as(pid, closure))
}
