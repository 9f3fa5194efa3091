//! Processes of a `JoinSet`.

use tokio::task::{AbortHandle, JoinSet};

use super::child::task;
use super::runtime_tasks::SpawnsOwn;
use super::{Pid, blocking};

/// Starts processes in a [`JoinSet`]. Its waits for them are told only if it is one of [`dyntrace::task`](crate::task::JoinSet), which also
/// implements this.
///
/// ```
/// use dyntrace::JoinSetExt;
/// use tokio::task::JoinSet;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let request = dyntrace::with_tag("request 7", async {
///     let mut set = JoinSet::new();
///     set.spawn_process(async { dyntrace::get_tag() });
///     set.spawn_blocking_process(dyntrace::get_tag);
///     set.join_all().await
/// });
/// for tag in request.await {
///     assert_eq!(tag.as_deref(), Some("request 7"));
/// }
/// # }
/// ```
pub trait JoinSetExt<T> {
    /// Starts a process as [`dyntrace::spawn`](crate::spawn) does, as a task of this set.
    ///
    /// # Panics
    ///
    /// Panics outside of a tokio runtime, as [`JoinSet::spawn`] does.
    #[track_caller]
    fn spawn_process<F>(&mut self, future: F) -> AbortHandle
    where
        F: Future<Output = T> + Send + 'static,
        T: Send;

    /// Runs a closure as [`dyntrace::spawn_blocking`](crate::spawn_blocking) does, as a task of this set.
    ///
    /// # Panics
    ///
    /// Panics outside of a tokio runtime, as [`JoinSet::spawn_blocking`] does.
    #[track_caller]
    fn spawn_blocking_process<F>(&mut self, closure: F) -> AbortHandle
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send;
}

impl<T: 'static> JoinSetExt<T> for JoinSet<T> {
    fn spawn_process<F>(&mut self, future: F) -> AbortHandle
    where
        F: Future<Output = T> + Send + 'static,
        T: Send,
    {
        spawn_in(self, Pid::next(), future)
    }

    fn spawn_blocking_process<F>(&mut self, closure: F) -> AbortHandle
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send,
    {
        spawn_blocking_in(self, Pid::next(), closure)
    }
}

/// [`JoinSetExt::spawn_process`] as process `pid`.
#[track_caller]
pub fn spawn_in<T, F>(set: &mut JoinSet<T>, pid: Pid, future: F) -> AbortHandle
where
    F: Future<Output = T> + Send + 'static,
    T: Send + 'static,
{
    let process = task(pid, future);
    let _own = SpawnsOwn::begin();
    set.spawn(process)
}

/// [`JoinSetExt::spawn_blocking_process`] as process `pid`.
#[track_caller]
pub fn spawn_blocking_in<T, F>(set: &mut JoinSet<T>, pid: Pid, closure: F) -> AbortHandle
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    set.spawn_blocking(blocking(pid, closure))
}
