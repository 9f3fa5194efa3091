//! The cell whose value is set once, by a task for which others wait.

use std::fmt;
use std::panic::Location;

use tokio::sync::SetOnceError;

use crate::inner::{debug, forward};
use dyntrace_processes::waiting::{On, Operation, Resource, ResourceKind, Waiting};

/// A [`tokio::sync::SetOnce`] that shows the tasks that wait for its value.
///
/// ```
/// use dyntrace::sync::SetOnce;
///
/// static OVEN: SetOnce<u32> = SetOnce::const_new();
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// dyntrace::spawn(async { OVEN.set(220) });
/// assert_eq!(*OVEN.wait().await, 220);
/// assert!(OVEN.set(180).is_err());
/// # }
/// ```
pub struct SetOnce<T> {
    resource: Resource,
    inner: tokio::sync::SetOnce<T>,
}

impl<T> SetOnce<T> {
    /// Creates a cell without a value.
    #[track_caller]
    pub fn new() -> Self {
        tokio::sync::SetOnce::new().into()
    }

    /// Creates a cell without a value, with a name for tracers.
    #[track_caller]
    pub fn named(name: &'static str) -> Self {
        SetOnce { resource: Resource::new(ResourceKind::SetOnce, Some(name)), inner: tokio::sync::SetOnce::new() }
    }

    /// Creates a cell without a value in a constant expression. Its `resource-new` fires before the first wait for it.
    #[track_caller]
    pub const fn const_new() -> Self {
        SetOnce { resource: Resource::in_constant(ResourceKind::SetOnce), inner: tokio::sync::SetOnce::const_new() }
    }

    /// Creates a cell with a value if there is one.
    #[track_caller]
    pub fn new_with(value: Option<T>) -> Self {
        tokio::sync::SetOnce::new_with(value).into()
    }

    /// Creates a cell with a value in a constant expression.
    #[track_caller]
    pub const fn const_new_with(value: T) -> Self {
        SetOnce {
            resource: Resource::in_constant(ResourceKind::SetOnce),
            inner: tokio::sync::SetOnce::const_new_with(value),
        }
    }

    forward! { inner:
        /// Whether the cell has a value.
        fn initialized(&self) -> bool;
        /// Returns the value if there is one.
        fn get(&self) -> Option<&T>;

        /// Sets the value if there is none.
        ///
        /// # Errors
        ///
        /// There is a value: returns the new one.
        fn set(&self, value: T) -> Result<(), SetOnceError<T>>;
    }

    /// Returns the value, once there is one.
    ///
    /// # Cancellation
    ///
    /// Dropping the future loses nothing.
    #[track_caller]
    pub fn wait(&self) -> impl Future<Output = &T> {
        Waiting::new(On(&self.resource, Operation::SetOnceWait), Location::caller(), self.inner.wait())
    }

    /// Returns the value if there is one.
    pub fn into_inner(self) -> Option<T> {
        self.inner.into_inner()
    }
}

impl<T> Default for SetOnce<T> {
    #[track_caller]
    fn default() -> Self {
        SetOnce::new()
    }
}

impl<T> From<T> for SetOnce<T> {
    #[track_caller]
    fn from(value: T) -> Self {
        SetOnce::new_with(Some(value))
    }
}

impl<T> From<tokio::sync::SetOnce<T>> for SetOnce<T> {
    #[track_caller]
    fn from(inner: tokio::sync::SetOnce<T>) -> Self {
        SetOnce { resource: Resource::new(ResourceKind::SetOnce, None), inner }
    }
}

impl<T: Clone> Clone for SetOnce<T> {
    #[track_caller]
    fn clone(&self) -> Self {
        SetOnce::new_with(self.get().cloned())
    }
}

impl<T: PartialEq> PartialEq for SetOnce<T> {
    fn eq(&self, other: &Self) -> bool {
        self.inner == other.inner
    }
}

impl<T: Eq> Eq for SetOnce<T> {}

debug! { [T: fmt::Debug] SetOnce<T>; }
