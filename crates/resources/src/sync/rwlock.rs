//! The lock for readers and writers.

use std::fmt;
use std::panic::Location;
use std::sync::Arc;

use tokio::sync::TryLockError;

use super::holder::Holder;
use super::locked::exclusive::Exclusive;
use super::locked::shared::Shared;
use super::locked::{HasLock, Locked, Readers};
use super::rwlock_guards::{OwnedRwLockReadGuard, OwnedRwLockWriteGuard, RwLockReadGuard, RwLockWriteGuard};
use dyntrace_processes::unpark::block_outside_tasks;
use dyntrace_processes::waiting::{Resource, ResourceKind};

/// As many as tokio's lock has.
const MOST_READERS: u32 = u32::MAX >> 3;

/// A [`tokio::sync::RwLock`] that shows the tasks that wait for it, and knows the [holder](RwLock::holder) that writes.
///
/// ```
/// use dyntrace::sync::RwLock;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let prices = RwLock::named("prices", vec![130]);
/// {
///     let (one, other) = (prices.read().await, prices.read().await);
///     assert_eq!(one[0], other[0]);
///     assert!(prices.try_write().is_err());
/// }
/// prices.write().await.push(150);
/// assert_eq!(*prices.read().await, [130, 150]);
/// # }
/// ```
pub struct RwLock<T: ?Sized> {
    locked: Locked<Readers, T>,
}

// SAFETY: the lock is a field.
unsafe impl<T: ?Sized> HasLock for RwLock<T> {
    type Permits = Readers;
    type Value = T;

    #[inline(always)]
    fn locked(&self) -> &Locked<Readers, T> {
        &self.locked
    }
}

impl<T> RwLock<T> {
    /// Creates a lock that is free.
    #[track_caller]
    pub fn new(value: T) -> Self {
        RwLock::made(MOST_READERS, None, value)
    }

    /// Creates a lock with a name for tracers.
    #[track_caller]
    pub fn named(name: &'static str, value: T) -> Self {
        RwLock::made(MOST_READERS, Some(name), value)
    }

    /// Creates a lock for this number of readers at once. Further ones wait.
    ///
    /// # Panics
    ///
    /// Panics if `max_reads` is 0, or larger than `u32::MAX >> 3`.
    #[track_caller]
    pub fn with_max_readers(value: T, max_reads: u32) -> Self {
        assert_ne!(max_reads, 0, "a RwLock may not be created with 0 readers");
        assert!(max_reads <= MOST_READERS, "a RwLock may not be created with more than {MOST_READERS} readers");
        RwLock::made(max_reads, None, value)
    }

    #[track_caller]
    fn made(readers: u32, name: Option<&'static str>, value: T) -> Self {
        RwLock { locked: Locked::readers(Readers::at_most(readers), Resource::new(ResourceKind::RwLock, name), value) }
    }

    /// Creates a lock in a constant expression. Its `resource-new` fires before the first wait for it.
    #[track_caller]
    pub const fn const_new(value: T) -> Self {
        RwLock::const_with_max_readers(value, MOST_READERS)
    }

    /// [`with_max_readers`](RwLock::with_max_readers) in a constant expression.
    ///
    /// # Panics
    ///
    /// Panics if `max_reads` is 0, or larger than `u32::MAX >> 3`.
    #[track_caller]
    pub const fn const_with_max_readers(value: T, max_reads: u32) -> Self {
        assert!(max_reads != 0, "a RwLock may not be created with 0 readers");
        assert!(max_reads <= MOST_READERS);
        RwLock {
            locked: Locked::readers(Readers::at_most(max_reads), Resource::in_constant(ResourceKind::RwLock), value),
        }
    }

    /// Returns the value.
    pub fn into_inner(self) -> T {
        self.locked.into_inner()
    }
}

impl<T: ?Sized> RwLock<T> {
    /// Takes the lock for reading, once no writer holds it. Waiting tasks take it in the order in which they began to wait, readers and
    /// writers: a writer that waits is overtaken by no reader.
    ///
    /// # Cancellation
    ///
    /// Dropping the future gives up the place in the queue.
    #[track_caller]
    pub fn read(&self) -> impl Future<Output = RwLockReadGuard<'_, T>> {
        let place = Location::caller();
        async move { RwLockReadGuard::of(Shared::lock(self, place).await) }
    }

    /// [`read`](RwLock::read) with a guard that keeps the `Arc`.
    #[track_caller]
    pub fn read_owned(self: Arc<Self>) -> impl Future<Output = OwnedRwLockReadGuard<T>> {
        let place = Location::caller();
        async move { OwnedRwLockReadGuard(Shared::lock(self, place).await) }
    }

    /// [`read`](RwLock::read) for use outside of asynchronous tasks: blocks the thread.
    ///
    /// # Panics
    ///
    /// Panics in an asynchronous task, as tokio's does.
    #[track_caller]
    pub fn blocking_read(&self) -> RwLockReadGuard<'_, T> {
        block_outside_tasks(self.read())
    }

    /// Takes the lock for reading if no writer holds it or waits for it.
    pub fn try_read(&self) -> Result<RwLockReadGuard<'_, T>, TryLockError> {
        Shared::try_lock(self).map(RwLockReadGuard::of)
    }

    /// [`try_read`](RwLock::try_read) with a guard that keeps the `Arc`.
    pub fn try_read_owned(self: Arc<Self>) -> Result<OwnedRwLockReadGuard<T>, TryLockError> {
        Shared::try_lock(self).map(OwnedRwLockReadGuard)
    }

    /// Takes the lock for writing, once it is free. Waiting tasks take it in the order in which they began to wait.
    ///
    /// # Cancellation
    ///
    /// Dropping the future gives up the place in the queue.
    #[track_caller]
    pub fn write(&self) -> impl Future<Output = RwLockWriteGuard<'_, T>> {
        let place = Location::caller();
        async move { RwLockWriteGuard(Exclusive::lock(self, place).await) }
    }

    /// [`write`](RwLock::write) with a guard that keeps the `Arc`.
    #[track_caller]
    pub fn write_owned(self: Arc<Self>) -> impl Future<Output = OwnedRwLockWriteGuard<T>> {
        let place = Location::caller();
        async move { OwnedRwLockWriteGuard(Exclusive::lock(self, place).await) }
    }

    /// [`write`](RwLock::write) for use outside of asynchronous tasks: blocks the thread.
    ///
    /// # Panics
    ///
    /// Panics in an asynchronous task, as tokio's does.
    #[track_caller]
    pub fn blocking_write(&self) -> RwLockWriteGuard<'_, T> {
        block_outside_tasks(self.write())
    }

    /// Takes the lock for writing if it is free.
    #[track_caller]
    pub fn try_write(&self) -> Result<RwLockWriteGuard<'_, T>, TryLockError> {
        Exclusive::try_lock(self, Location::caller()).map(RwLockWriteGuard)
    }

    /// [`try_write`](RwLock::try_write) with a guard that keeps the `Arc`.
    #[track_caller]
    pub fn try_write_owned(self: Arc<Self>) -> Result<OwnedRwLockWriteGuard<T>, TryLockError> {
        Exclusive::try_lock(self, Location::caller()).map(OwnedRwLockWriteGuard)
    }

    /// Returns the value, for which no lock is needed.
    pub fn get_mut(&mut self) -> &mut T {
        self.locked.get_mut()
    }

    /// Returns the process that holds the lock for writing, as [`Mutex::holder`](super::Mutex::holder) does. `None` if readers hold it.
    ///
    /// ```
    /// use dyntrace::{process, sync::RwLock};
    ///
    /// let prices = RwLock::new(130);
    /// let guard = prices.try_write().expect("it is free");
    /// assert_eq!(prices.holder().map(|holder| holder.pid), Some(process::current()));
    /// let _reads = guard.downgrade();
    /// assert_eq!(prices.holder(), None);
    /// ```
    pub fn holder(&self) -> Option<Holder> {
        self.locked.holder().holder()
    }
}

impl<T> From<T> for RwLock<T> {
    #[track_caller]
    fn from(value: T) -> Self {
        RwLock::new(value)
    }
}

impl<T> From<tokio::sync::RwLock<T>> for RwLock<T> {
    #[track_caller]
    fn from(lock: tokio::sync::RwLock<T>) -> Self {
        RwLock::new(lock.into_inner())
    }
}

impl<T: Default> Default for RwLock<T> {
    #[track_caller]
    fn default() -> Self {
        RwLock::new(T::default())
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for RwLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("RwLock");
        match self.try_read() {
            Ok(guard) => shown.field("data", &&*guard),
            Err(_) => shown.field("data", &format_args!("<locked>")),
        };
        shown.finish()
    }
}
