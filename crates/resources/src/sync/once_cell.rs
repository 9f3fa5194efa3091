//! The cell whose value is made once, by the first task that needs it.

use std::fmt;
use std::panic::Location;

use tokio::sync::{Semaphore, SetError, TryAcquireError};

use super::acquire::acquire;
use crate::inner::{debug, forward};
use dyntrace_processes::waiting::{Operation, Resource, ResourceKind};

/// A [`tokio::sync::OnceCell`] that shows the tasks that wait while another one makes the value.
///
/// The task that makes the value does not wait for the cell: tracers see what its own future waits for.
///
/// ```
/// use dyntrace::sync::OnceCell;
///
/// static OVEN: OnceCell<u32> = OnceCell::const_new();
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// assert_eq!(OVEN.get(), None);
/// assert_eq!(*OVEN.get_or_init(async || 220).await, 220);
/// assert_eq!(*OVEN.get_or_init(async || 180).await, 220);
/// # }
/// ```
pub struct OnceCell<T> {
    resource: Resource,
    /// Its permit belongs to the task that makes the value. Closed once a task has.
    semaphore: Semaphore,
    inner: tokio::sync::OnceCell<T>,
}

impl<T> OnceCell<T> {
    /// Creates a cell without a value.
    #[track_caller]
    pub fn new() -> Self {
        tokio::sync::OnceCell::new().into()
    }

    /// Creates a cell without a value, with a name for tracers.
    #[track_caller]
    pub fn named(name: &'static str) -> Self {
        OnceCell::of(Resource::new(ResourceKind::OnceCell, Some(name)), tokio::sync::OnceCell::new())
    }

    /// Creates a cell without a value in a constant expression. Its `resource-new` fires before the first wait for it.
    #[track_caller]
    pub const fn const_new() -> Self {
        OnceCell::of(Resource::in_constant(ResourceKind::OnceCell), tokio::sync::OnceCell::const_new())
    }

    /// Creates a cell with a value if there is one.
    #[track_caller]
    pub fn new_with(value: Option<T>) -> Self {
        tokio::sync::OnceCell::new_with(value).into()
    }

    /// Creates a cell with a value in a constant expression.
    #[track_caller]
    pub const fn const_new_with(value: T) -> Self {
        OnceCell::of(Resource::in_constant(ResourceKind::OnceCell), tokio::sync::OnceCell::const_new_with(value))
    }

    const fn of(resource: Resource, inner: tokio::sync::OnceCell<T>) -> Self {
        OnceCell { resource, semaphore: Semaphore::const_new(1), inner }
    }

    forward! { inner:
        /// Whether the cell has a value.
        fn initialized(&self) -> bool;
        /// Returns the value if there is one.
        fn get(&self) -> Option<&T>;
        /// Returns the value if there is one, to change it.
        fn get_mut(&mut self) -> Option<&mut T>;
    }

    /// Sets the value if there is none, and no task makes one.
    ///
    /// # Errors
    ///
    /// There is a value, or a task makes one: returns the new value.
    pub fn set(&self, value: T) -> Result<(), SetError<T>> {
        if self.initialized() {
            return Err(SetError::AlreadyInitializedError(value));
        }
        match self.semaphore.try_acquire() {
            Ok(_permit) => {
                self.keep(value);
                Ok(())
            }
            Err(TryAcquireError::NoPermits) => Err(SetError::InitializingError(value)),
            Err(TryAcquireError::Closed) => Err(SetError::AlreadyInitializedError(value)),
        }
    }

    /// Returns the value. If there is none, makes it by `f`, or waits while another task makes it.
    ///
    /// If the other task fails, panics or is dropped, the task that has waited longest makes the value by its own `f`. A task that waits
    /// for the value within `f` waits for ever.
    ///
    /// # Panics
    ///
    /// Panics if `f` does.
    ///
    /// # Cancellation
    ///
    /// Dropping the future gives up the place in the queue, or drops the future of `f`.
    #[track_caller]
    pub fn get_or_init<F: FnOnce() -> Fut, Fut: Future<Output = T>>(&self, f: F) -> impl Future<Output = &T> {
        let place = Location::caller();
        async move {
            if let Some(value) = self.get() {
                return value;
            }
            match acquire(&self.semaphore, 1, &self.resource, Operation::GetOrInit, place).await {
                Ok(_permit) => self.keep(f().await),
                Err(_) => self.made(),
            }
        }
    }

    /// [`get_or_init`](OnceCell::get_or_init) by an `f` that can fail.
    ///
    /// # Errors
    ///
    /// The error of `f`, also in later calls if their `f` fails.
    ///
    /// # Panics
    ///
    /// Panics if `f` does.
    ///
    /// # Cancellation
    ///
    /// Dropping the future gives up the place in the queue, or drops the future of `f`.
    #[track_caller]
    pub fn get_or_try_init<E, F, Fut>(&self, f: F) -> impl Future<Output = Result<&T, E>>
    where
        F: FnOnce() -> Fut,
        Fut: Future<Output = Result<T, E>>,
    {
        let place = Location::caller();
        async move {
            if let Some(value) = self.get() {
                return Ok(value);
            }
            match acquire(&self.semaphore, 1, &self.resource, Operation::GetOrInit, place).await {
                Ok(_permit) => Ok(self.keep(f().await?)),
                Err(_) => Ok(self.made()),
            }
        }
    }

    /// Only with the permit. Returns the value in its place.
    fn keep(&self, value: T) -> &T {
        let kept = self.inner.set(value);
        debug_assert!(kept.is_ok(), "the permit's owner alone sets the value");
        self.semaphore.close();
        self.made()
    }

    /// Only after the semaphore was closed.
    fn made(&self) -> &T {
        self.get().unwrap_or_else(|| unreachable!("a semaphore is closed after the value is set"))
    }

    /// Returns the value if there is one.
    pub fn into_inner(self) -> Option<T> {
        self.inner.into_inner()
    }

    /// Takes the value out if there is one. The cell can receive another one then.
    pub fn take(&mut self) -> Option<T> {
        self.semaphore = Semaphore::const_new(1);
        self.inner.take()
    }
}

impl<T> Default for OnceCell<T> {
    #[track_caller]
    fn default() -> Self {
        OnceCell::new()
    }
}

impl<T> From<T> for OnceCell<T> {
    #[track_caller]
    fn from(value: T) -> Self {
        OnceCell::new_with(Some(value))
    }
}

impl<T> From<tokio::sync::OnceCell<T>> for OnceCell<T> {
    #[track_caller]
    fn from(cell: tokio::sync::OnceCell<T>) -> Self {
        OnceCell::of(Resource::new(ResourceKind::OnceCell, None), cell)
    }
}

impl<T: Clone> Clone for OnceCell<T> {
    #[track_caller]
    fn clone(&self) -> Self {
        OnceCell::new_with(self.get().cloned())
    }
}

impl<T: PartialEq> PartialEq for OnceCell<T> {
    fn eq(&self, other: &Self) -> bool {
        self.inner == other.inner
    }
}

impl<T: Eq> Eq for OnceCell<T> {}

debug! { [T: fmt::Debug] OnceCell<T>; }
