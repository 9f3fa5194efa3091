//! Processes of a `JoinSet`.

use tokio::task::{AbortHandle, JoinSet};

use super::child::task;
use super::others::SpawnsOwn;
use super::{Pid, blocking};

/// Starts processes in a [`JoinSet`], the only type that implements it.
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
        let process = task(future);
        let _own = SpawnsOwn::begin();
        self.spawn(process)
    }

    fn spawn_blocking_process<F>(&mut self, closure: F) -> AbortHandle
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send,
    {
        self.spawn_blocking(blocking(Pid::next(), closure))
    }
}
