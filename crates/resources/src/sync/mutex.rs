//! The mutex.

use std::fmt;
use std::panic::Location;
use std::sync::Arc;

use tokio::sync::TryLockError;

use super::holder::Holder;
use super::locked::exclusive::Exclusive;
use super::locked::{HasLock, Locked, One};
use super::mutex_guards::{MutexGuard, OwnedMutexGuard};
use dyntrace_processes::unpark::block_outside_tasks;
use dyntrace_processes::waiting::{Resource, ResourceKind};

/// A [`tokio::sync::Mutex`] that shows the tasks that wait for it, and knows its [holder](Mutex::holder).
///
/// ```
/// use std::sync::Arc;
///
/// use dyntrace::sync::Mutex;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), tokio::task::JoinError> {
/// let shelf = Arc::new(Mutex::new(vec!["flour"]));
/// let baker = dyntrace::spawn({
///     let shelf = Arc::clone(&shelf);
///     async move { shelf.lock().await.push("salt") }
/// });
/// baker.await?;
/// assert_eq!(*shelf.lock().await, ["flour", "salt"]);
/// # Ok(())
/// # }
/// ```
pub struct Mutex<T: ?Sized> {
    locked: Locked<One, T>,
}

// SAFETY: the lock is a field.
unsafe impl<T: ?Sized> HasLock for Mutex<T> {
    type Permits = One;
    type Value = T;

    #[inline(always)]
    fn locked(&self) -> &Locked<One, T> {
        &self.locked
    }
}

impl<T> Mutex<T> {
    /// Creates a mutex that is free.
    #[track_caller]
    pub fn new(value: T) -> Self {
        Mutex { locked: Locked::one(Resource::new(ResourceKind::Mutex, None), value) }
    }

    /// Creates a mutex with a name for tracers.
    #[track_caller]
    pub fn named(name: &'static str, value: T) -> Self {
        Mutex { locked: Locked::one(Resource::new(ResourceKind::Mutex, Some(name)), value) }
    }

    /// Creates a mutex in a constant expression. Its `resource-new` fires before the first wait for it.
    #[track_caller]
    pub const fn const_new(value: T) -> Self {
        Mutex { locked: Locked::one(Resource::in_constant(ResourceKind::Mutex), value) }
    }

    /// Returns the value.
    pub fn into_inner(self) -> T {
        self.locked.into_inner()
    }
}

impl<T: ?Sized> Mutex<T> {
    /// Takes the lock, once it is free. Waiting tasks take it in the order in which they began to wait.
    ///
    /// # Cancellation
    ///
    /// Dropping the future gives up the place in the queue.
    #[track_caller]
    pub fn lock(&self) -> impl Future<Output = MutexGuard<'_, T>> {
        let place = Location::caller();
        async move { MutexGuard(Exclusive::lock(self, place).await) }
    }

    /// [`lock`](Mutex::lock) with a guard that keeps the `Arc`.
    #[track_caller]
    pub fn lock_owned(self: Arc<Self>) -> impl Future<Output = OwnedMutexGuard<T>> {
        let place = Location::caller();
        async move { OwnedMutexGuard(Exclusive::lock(self, place).await) }
    }

    /// [`lock`](Mutex::lock) for use outside of asynchronous tasks: blocks the thread.
    ///
    /// # Panics
    ///
    /// Panics in an asynchronous task, as tokio's does.
    #[track_caller]
    pub fn blocking_lock(&self) -> MutexGuard<'_, T> {
        block_outside_tasks(self.lock())
    }

    /// [`lock_owned`](Mutex::lock_owned) for use outside of asynchronous tasks: blocks the thread.
    ///
    /// # Panics
    ///
    /// Panics in an asynchronous task, as tokio's does.
    #[track_caller]
    pub fn blocking_lock_owned(self: Arc<Self>) -> OwnedMutexGuard<T> {
        block_outside_tasks(self.lock_owned())
    }

    /// Takes the lock if it is free.
    #[track_caller]
    pub fn try_lock(&self) -> Result<MutexGuard<'_, T>, TryLockError> {
        Exclusive::try_lock(self, Location::caller()).map(MutexGuard)
    }

    /// [`try_lock`](Mutex::try_lock) with a guard that keeps the `Arc`.
    #[track_caller]
    pub fn try_lock_owned(self: Arc<Self>) -> Result<OwnedMutexGuard<T>, TryLockError> {
        Exclusive::try_lock(self, Location::caller()).map(OwnedMutexGuard)
    }

    /// Returns the value, for which no lock is needed.
    pub fn get_mut(&mut self) -> &mut T {
        self.locked.get_mut()
    }

    /// Returns the process that holds the lock, as it was at some instant during this call. `None` if the lock was free, or was taken or
    /// freed just then.
    ///
    /// A task that `tokio::spawn` started counts as its thread, see [`process`](dyntrace_processes::process). If a process frees the lock and takes
    /// it again during this call, place and time may be those of either hold.
    ///
    /// ```
    /// use dyntrace::{process, sync::Mutex};
    ///
    /// let shelf = Mutex::new(());
    /// let guard = shelf.try_lock().expect("it is free");
    /// let holder = shelf.holder().expect("it is held");
    /// assert_eq!((holder.pid, holder.place.line()), (process::current(), line!() - 2));
    /// drop(guard);
    /// assert_eq!(shelf.holder(), None);
    /// ```
    pub fn holder(&self) -> Option<Holder> {
        self.locked.holder().holder()
    }
}

impl<T> From<T> for Mutex<T> {
    #[track_caller]
    fn from(value: T) -> Self {
        Mutex::new(value)
    }
}

impl<T> From<tokio::sync::Mutex<T>> for Mutex<T> {
    #[track_caller]
    fn from(mutex: tokio::sync::Mutex<T>) -> Self {
        Mutex::new(mutex.into_inner())
    }
}

impl<T: Default> Default for Mutex<T> {
    #[track_caller]
    fn default() -> Self {
        Mutex::new(T::default())
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for Mutex<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Mutex");
        match self.try_lock() {
            Ok(guard) => shown.field("data", &&*guard),
            Err(_) => shown.field("data", &format_args!("<locked>")),
        };
        shown.finish()
    }
}
