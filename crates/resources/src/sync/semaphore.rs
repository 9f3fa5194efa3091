//! The semaphore.

use std::mem;
use std::panic::Location;
use std::ptr;
use std::sync::Arc;

use tokio::sync::{AcquireError, TryAcquireError};

use super::acquire::acquire;
use crate::inner::{debug, forward};
use dyntrace_processes::unpark::block_outside_tasks;
use dyntrace_processes::waiting::{Operation, Resource, ResourceKind};

/// A [`tokio::sync::Semaphore`] that shows the tasks that wait for its permits.
///
/// ```
/// use dyntrace::sync::Semaphore;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), dyntrace::sync::AcquireError> {
/// let ovens = Semaphore::named("ovens", 3);
/// let two = ovens.acquire_many(2).await?;
/// assert_eq!((two.num_permits(), ovens.available_permits()), (2, 1));
/// drop(two);
/// assert_eq!(ovens.available_permits(), 3);
/// # Ok(())
/// # }
/// ```
pub struct Semaphore {
    resource: Resource,
    inner: tokio::sync::Semaphore,
}

/// Permits of a [`Semaphore`], which it gets back when this is dropped.
#[must_use]
#[derive(Debug)]
#[clippy::has_significant_drop]
pub struct SemaphorePermit<'a> {
    sem: &'a Semaphore,
    permits: usize,
}

/// Permits of a [`Semaphore`] with the `Arc` that holds it, which it gets back when this is dropped.
#[must_use]
#[derive(Debug)]
#[clippy::has_significant_drop]
pub struct OwnedSemaphorePermit {
    sem: Arc<Semaphore>,
    permits: usize,
}

impl Semaphore {
    /// The largest number of permits.
    pub const MAX_PERMITS: usize = tokio::sync::Semaphore::MAX_PERMITS;

    /// Creates a semaphore with this number of permits.
    ///
    /// # Panics
    ///
    /// Panics if there are more than [`MAX_PERMITS`](Semaphore::MAX_PERMITS).
    #[track_caller]
    pub fn new(permits: usize) -> Self {
        Semaphore {
            resource: Resource::new(ResourceKind::Semaphore, None),
            inner: tokio::sync::Semaphore::new(permits),
        }
    }

    /// Creates a semaphore with a name for tracers.
    ///
    /// # Panics
    ///
    /// Panics if there are more than [`MAX_PERMITS`](Semaphore::MAX_PERMITS).
    #[track_caller]
    pub fn named(name: &'static str, permits: usize) -> Self {
        Semaphore {
            resource: Resource::new(ResourceKind::Semaphore, Some(name)),
            inner: tokio::sync::Semaphore::new(permits),
        }
    }

    /// Creates a semaphore in a constant expression. Its `resource-new` fires before the first wait for it.
    #[track_caller]
    pub const fn const_new(permits: usize) -> Self {
        Semaphore {
            resource: Resource::in_constant(ResourceKind::Semaphore),
            inner: tokio::sync::Semaphore::const_new(permits),
        }
    }

    forward! { inner:
        /// Returns the number of free permits.
        fn available_permits(&self) -> usize;

        /// Adds permits.
        ///
        /// # Panics
        ///
        /// Panics if there are more than [`MAX_PERMITS`](Semaphore::MAX_PERMITS) then.
        fn add_permits(&self, n: usize);

        /// Removes up to `n` free permits. Returns how many.
        fn forget_permits(&self, n: usize) -> usize;
    }

    /// Acquires a permit, once there is one. Waiting tasks receive theirs in the order in which they began to wait.
    ///
    /// # Errors
    ///
    /// The semaphore is closed.
    ///
    /// # Cancellation
    ///
    /// Dropping the future gives up the place in the queue.
    #[track_caller]
    pub fn acquire(&self) -> impl Future<Output = Result<SemaphorePermit<'_>, AcquireError>> {
        self.acquire_many(1)
    }

    /// Acquires `n` permits at once, as [`acquire`](Semaphore::acquire) one.
    #[track_caller]
    pub fn acquire_many(&self, n: u32) -> impl Future<Output = Result<SemaphorePermit<'_>, AcquireError>> {
        let place = Location::caller();
        async move {
            self.take(n, place).await?;
            Ok(SemaphorePermit { sem: self, permits: n as usize })
        }
    }

    /// [`acquire`](Semaphore::acquire) with a permit that keeps the `Arc`.
    #[track_caller]
    pub fn acquire_owned(self: Arc<Self>) -> impl Future<Output = Result<OwnedSemaphorePermit, AcquireError>> {
        self.acquire_many_owned(1)
    }

    /// [`acquire_many`](Semaphore::acquire_many) with permits that keep the `Arc`.
    #[track_caller]
    pub fn acquire_many_owned(
        self: Arc<Self>,
        n: u32,
    ) -> impl Future<Output = Result<OwnedSemaphorePermit, AcquireError>> {
        let place = Location::caller();
        async move {
            self.take(n, place).await?;
            Ok(OwnedSemaphorePermit { sem: self, permits: n as usize })
        }
    }

    #[inline(always)]
    async fn take(&self, n: u32, place: &'static Location<'static>) -> Result<(), AcquireError> {
        acquire(&self.inner, n, &self.resource, Operation::Acquire, place).await?.forget();
        Ok(())
    }

    /// Acquires a permit if there is one.
    ///
    /// # Errors
    ///
    /// There is none, or the semaphore is closed.
    pub fn try_acquire(&self) -> Result<SemaphorePermit<'_>, TryAcquireError> {
        self.try_acquire_many(1)
    }

    /// Acquires `n` permits if `n` are free.
    ///
    /// # Errors
    ///
    /// There are fewer, or the semaphore is closed.
    pub fn try_acquire_many(&self, n: u32) -> Result<SemaphorePermit<'_>, TryAcquireError> {
        self.inner.try_acquire_many(n)?.forget();
        Ok(SemaphorePermit { sem: self, permits: n as usize })
    }

    /// [`try_acquire`](Semaphore::try_acquire) with a permit that keeps the `Arc`.
    pub fn try_acquire_owned(self: Arc<Self>) -> Result<OwnedSemaphorePermit, TryAcquireError> {
        self.try_acquire_many_owned(1)
    }

    /// [`try_acquire_many`](Semaphore::try_acquire_many) with permits that keep the `Arc`.
    pub fn try_acquire_many_owned(self: Arc<Self>, n: u32) -> Result<OwnedSemaphorePermit, TryAcquireError> {
        self.inner.try_acquire_many(n)?.forget();
        Ok(OwnedSemaphorePermit { sem: self, permits: n as usize })
    }

    /// [`acquire`](Semaphore::acquire) for use outside of asynchronous tasks: blocks the thread.
    ///
    /// # Panics
    ///
    /// Panics in an asynchronous task, as tokio's does.
    #[track_caller]
    pub fn blocking_acquire(&self) -> Result<SemaphorePermit<'_>, AcquireError> {
        block_outside_tasks(self.acquire())
    }

    /// [`acquire_many`](Semaphore::acquire_many), blocking as [`blocking_acquire`](Semaphore::blocking_acquire).
    #[track_caller]
    pub fn blocking_acquire_many(&self, n: u32) -> Result<SemaphorePermit<'_>, AcquireError> {
        block_outside_tasks(self.acquire_many(n))
    }

    /// [`acquire_owned`](Semaphore::acquire_owned), blocking as [`blocking_acquire`](Semaphore::blocking_acquire).
    #[track_caller]
    pub fn blocking_acquire_owned(self: Arc<Self>) -> Result<OwnedSemaphorePermit, AcquireError> {
        block_outside_tasks(self.acquire_owned())
    }

    /// [`acquire_many_owned`](Semaphore::acquire_many_owned), blocking as [`blocking_acquire`](Semaphore::blocking_acquire).
    #[track_caller]
    pub fn blocking_acquire_many_owned(self: Arc<Self>, n: u32) -> Result<OwnedSemaphorePermit, AcquireError> {
        block_outside_tasks(self.acquire_many_owned(n))
    }

    forward! { inner:
        /// Closes the semaphore: nobody acquires a permit any more.
        fn close(&self);
        /// Whether the semaphore is closed.
        fn is_closed(&self) -> bool;
    }

    /// Returns tokio's semaphore.
    pub fn into_inner(self) -> tokio::sync::Semaphore {
        self.inner
    }
}

impl From<tokio::sync::Semaphore> for Semaphore {
    #[track_caller]
    fn from(inner: tokio::sync::Semaphore) -> Self {
        Semaphore { resource: Resource::new(ResourceKind::Semaphore, None), inner }
    }
}

debug! { [] Semaphore; }

/// The methods of permits, borrowed or owned: `$same` says whether two references lead to one semaphore.
macro_rules! permit {
    ([$($generics:tt)*] $permit:ty, $semaphore:ty, $same:expr) => {
        impl<$($generics)*> $permit {
            /// Keeps the permits for ever.
            pub fn forget(mut self) {
                self.permits = 0;
            }

            /// Adds the permits of another one.
            ///
            /// # Panics
            ///
            /// Panics if they are of another semaphore.
            #[track_caller]
            pub fn merge(&mut self, mut other: Self) {
                assert!($same(&self.sem, &other.sem), "merging permits from different semaphore instances");
                let others = mem::take(&mut other.permits);
                self.permits = self.permits.checked_add(others).expect("number of permits overflowed");
            }

            /// Splits `n` permits off. `None` if there are fewer.
            pub fn split(&mut self, n: usize) -> Option<Self> {
                self.permits = self.permits.checked_sub(n)?;
                Some(Self { sem: self.sem.clone(), permits: n })
            }

            /// Returns the semaphore.
            pub fn semaphore(&self) -> &$semaphore {
                &self.sem
            }

            /// Returns the number of permits.
            pub fn num_permits(&self) -> usize {
                self.permits
            }
        }

        impl<$($generics)*> Drop for $permit {
            #[inline]
            fn drop(&mut self) {
                self.sem.add_permits(self.permits);
            }
        }
    };
}

permit!(['a] SemaphorePermit<'a>, Semaphore, |one: &&'a Semaphore, other: &&'a Semaphore| ptr::eq(*one, *other));
permit!([] OwnedSemaphorePermit, Arc<Semaphore>, Arc::ptr_eq);
