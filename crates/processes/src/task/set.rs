//! Sets of tasks.

use std::fmt;
use std::panic::{Location, resume_unwind};
use std::task::{Context, Poll};

use tokio::runtime::Handle;
use tokio::task::{AbortHandle, Id, JoinError, LocalSet};

use super::members::Members;
use crate::process::{self, JoinSetExt, Pid};
use crate::waiting::{OneOf, Waiting};

/// A set of tasks that are processes, which are joined in the order in which they end: with the shape of [`tokio::task::JoinSet`].
///
/// The waits of [`join_next`](JoinSet::join_next), [`join_next_with_id`](JoinSet::join_next_with_id), [`join_all`](JoinSet::join_all) and
/// [`shutdown`](JoinSet::shutdown) fire `process-wait` and `process-resume`. Their resource is the pid of the process that was started
/// first, of those that are not joined. A set does not know the pids of processes that were started while nobody looked: then the
/// resource is `a task of the set`.
///
/// If the set is dropped, its tasks are aborted. `From` and [`into_inner`](JoinSet::into_inner) return tokio's set.
///
/// ```
/// use dyntrace::task::JoinSet;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), tokio::task::JoinError> {
/// let mut loaves = JoinSet::new();
/// for flour in ["rye", "oat"] {
///     loaves.spawn(async move { format!("{flour} bread") });
/// }
/// let mut baked = Vec::new();
/// while let Some(loaf) = loaves.join_next().await {
///     baked.push(loaf?);
/// }
/// baked.sort();
/// assert_eq!(baked, ["oat bread", "rye bread"]);
/// # Ok(())
/// # }
/// ```
pub struct JoinSet<T> {
    inner: tokio::task::JoinSet<T>,
    members: Members,
}

impl<T> JoinSet<T> {
    /// Makes an empty set.
    pub fn new() -> JoinSet<T> {
        JoinSet::default()
    }

    /// Returns the number of tasks that are not joined.
    pub fn len(&self) -> usize {
        self.inner.len()
    }

    /// Whether all tasks are joined.
    pub fn is_empty(&self) -> bool {
        self.inner.is_empty()
    }

    /// Returns tokio's set. Tracers do not see its waits.
    #[must_use = "the tasks are aborted if the set is dropped"]
    pub fn into_inner(self) -> tokio::task::JoinSet<T> {
        self.inner
    }
}

impl<T: 'static> JoinSet<T> {
    /// Starts a process as [`spawn`](super::spawn) does, as a task of this set.
    ///
    /// # Panics
    ///
    /// Panics outside of a tokio runtime.
    #[track_caller]
    pub fn spawn<F>(&mut self, task: F) -> AbortHandle
    where
        F: Future<Output = T> + Send + 'static,
        T: Send,
    {
        let pid = Pid::next();
        let task = process::spawn_in(&mut self.inner, pid, task);
        self.started(pid, task)
    }

    /// [`spawn`](JoinSet::spawn) on another runtime.
    #[track_caller]
    pub fn spawn_on<F>(&mut self, task: F, handle: &Handle) -> AbortHandle
    where
        F: Future<Output = T> + Send + 'static,
        T: Send,
    {
        let _inside = handle.enter();
        self.spawn(task)
    }

    /// Starts a process as [`spawn_local`](super::spawn_local) does, as a task of this set.
    ///
    /// # Panics
    ///
    /// Panics outside of a [`LocalSet`].
    #[track_caller]
    pub fn spawn_local<F: Future<Output = T> + 'static>(&mut self, task: F) -> AbortHandle {
        let pid = Pid::next();
        let task = self.inner.spawn_local(process::local(pid, task));
        self.started(pid, task)
    }

    /// [`spawn_local`](JoinSet::spawn_local) on a `LocalSet`, which may run later.
    #[track_caller]
    pub fn spawn_local_on<F: Future<Output = T> + 'static>(&mut self, task: F, local_set: &LocalSet) -> AbortHandle {
        let pid = Pid::next();
        let task = self.inner.spawn_local_on(process::local(pid, task), local_set);
        self.started(pid, task)
    }

    /// Runs a closure as [`spawn_blocking`](super::spawn_blocking) does, as a task of this set.
    ///
    /// # Panics
    ///
    /// Panics outside of a tokio runtime.
    #[track_caller]
    pub fn spawn_blocking<F>(&mut self, f: F) -> AbortHandle
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send,
    {
        let pid = Pid::next();
        let task = process::spawn_blocking_in(&mut self.inner, pid, f);
        self.started(pid, task)
    }

    /// [`spawn_blocking`](JoinSet::spawn_blocking) on another runtime.
    #[track_caller]
    pub fn spawn_blocking_on<F>(&mut self, f: F, handle: &Handle) -> AbortHandle
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send,
    {
        let _inside = handle.enter();
        self.spawn_blocking(f)
    }

    /// Waits for the end of a task, and returns its value. `None` if the set is empty.
    ///
    /// # Cancellation
    ///
    /// Dropping the future loses no task.
    #[track_caller]
    pub fn join_next(&mut self) -> impl Future<Output = Option<Result<T, JoinError>>> {
        let next = self.next("task::JoinSet::join_next", Location::caller());
        async move { next.await.map(without_id) }
    }

    /// [`join_next`](JoinSet::join_next), with the id of the task. An error has the id, too.
    ///
    /// # Cancellation
    ///
    /// Dropping the future loses no task.
    #[track_caller]
    pub fn join_next_with_id(&mut self) -> impl Future<Output = Option<Result<(Id, T), JoinError>>> {
        self.next("task::JoinSet::join_next", Location::caller())
    }

    fn next(
        &mut self,
        kind: &'static str,
        place: &'static Location<'static>,
    ) -> impl Future<Output = Option<Result<(Id, T), JoinError>>> {
        let JoinSet { inner, members } = self;
        let waits = Waiting::new(OneOf::new(members.first(), kind), place, inner.join_next_with_id());
        async move {
            let joined = waits.await;
            members.joined(joined.as_ref());
            joined
        }
    }

    /// Returns the value of a task that has ended. `None` if there is none.
    pub fn try_join_next(&mut self) -> Option<Result<T, JoinError>> {
        self.try_join_next_with_id().map(without_id)
    }

    /// [`try_join_next`](JoinSet::try_join_next), with the id of the task.
    pub fn try_join_next_with_id(&mut self) -> Option<Result<(Id, T), JoinError>> {
        let joined = self.inner.try_join_next_with_id();
        self.members.joined(joined.as_ref());
        joined
    }

    /// [`join_next`](JoinSet::join_next), for futures written by hand. Fires no probes.
    pub fn poll_join_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<T, JoinError>>> {
        self.poll_join_next_with_id(cx).map(|joined| joined.map(without_id))
    }

    /// [`join_next_with_id`](JoinSet::join_next_with_id), for futures written by hand. Fires no probes.
    pub fn poll_join_next_with_id(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<(Id, T), JoinError>>> {
        let joined = self.inner.poll_join_next_with_id(cx);
        if let Poll::Ready(joined) = &joined {
            self.members.joined(joined.as_ref());
        }
        joined
    }

    /// Aborts all tasks, and waits until they have ended.
    ///
    /// # Cancellation
    ///
    /// The tasks are aborted at the first poll.
    #[track_caller]
    pub fn shutdown(&mut self) -> impl Future<Output = ()> {
        let place = Location::caller();
        async move {
            self.abort_all();
            while self.next("task::JoinSet::shutdown", place).await.is_some() {}
        }
    }

    /// Waits for the ends of all tasks, and returns their values in the order in which they ended.
    ///
    /// # Panics
    ///
    /// Panics if a task panics or is aborted: a panic of a task is resumed.
    ///
    /// # Cancellation
    ///
    /// Dropping the future aborts the tasks.
    #[track_caller]
    pub fn join_all(mut self) -> impl Future<Output = Vec<T>> {
        let place = Location::caller();
        async move {
            let mut values = Vec::with_capacity(self.len());
            while let Some(joined) = self.next("task::JoinSet::join_all", place).await {
                match joined.map_err(JoinError::try_into_panic) {
                    Ok((_, value)) => values.push(value),
                    Err(Ok(panic)) => resume_unwind(panic),
                    Err(Err(error)) => panic!("{error}"),
                }
            }
            values
        }
    }

    /// Aborts all tasks. They are still to be joined.
    pub fn abort_all(&mut self) {
        self.inner.abort_all();
    }

    /// Removes all tasks from the set; they go on.
    pub fn detach_all(&mut self) {
        self.inner.detach_all();
        self.members.clear();
    }

    fn started(&mut self, pid: Pid, task: AbortHandle) -> AbortHandle {
        self.members.add(task.id(), pid);
        task
    }
}

fn without_id<T>(joined: Result<(Id, T), JoinError>) -> Result<T, JoinError> {
    joined.map(|(_, value)| value)
}

/// As [`JoinSet::spawn`] and [`JoinSet::spawn_blocking`], for programs that replace tokio's set by this one.
impl<T: 'static> JoinSetExt<T> for JoinSet<T> {
    fn spawn_process<F>(&mut self, future: F) -> AbortHandle
    where
        F: Future<Output = T> + Send + 'static,
        T: Send,
    {
        self.spawn(future)
    }

    fn spawn_blocking_process<F>(&mut self, closure: F) -> AbortHandle
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send,
    {
        self.spawn_blocking(closure)
    }
}

impl<T> Default for JoinSet<T> {
    fn default() -> JoinSet<T> {
        JoinSet::from(tokio::task::JoinSet::new())
    }
}

/// The set does not know the pids of its processes.
impl<T> From<tokio::task::JoinSet<T>> for JoinSet<T> {
    fn from(inner: tokio::task::JoinSet<T>) -> JoinSet<T> {
        JoinSet { inner, members: Members::default() }
    }
}

impl<T> From<JoinSet<T>> for tokio::task::JoinSet<T> {
    fn from(set: JoinSet<T>) -> tokio::task::JoinSet<T> {
        set.into_inner()
    }
}

/// Starts each future, as [`JoinSet::spawn`] does.
impl<T: Send + 'static, F: Future<Output = T> + Send + 'static> FromIterator<F> for JoinSet<T> {
    fn from_iter<I: IntoIterator<Item = F>>(futures: I) -> JoinSet<T> {
        let mut set = JoinSet::new();
        set.extend(futures);
        set
    }
}

/// Starts each future, as [`JoinSet::spawn`] does.
impl<T: Send + 'static, F: Future<Output = T> + Send + 'static> Extend<F> for JoinSet<T> {
    fn extend<I: IntoIterator<Item = F>>(&mut self, futures: I) {
        for future in futures {
            self.spawn(future);
        }
    }
}

impl<T> fmt::Debug for JoinSet<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}
