//! Notifications without a value.

use std::fmt;
use std::mem;
use std::panic::Location;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use crate::inner::{debug, forward};
use dyntrace_processes::waiting::{On, Operation, Resource, ResourceKind, Waiting};

/// A [`tokio::sync::Notify`] that shows the tasks that wait for it.
///
/// ```
/// use dyntrace::sync::Notify;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let ready = Notify::named("ready");
/// ready.notify_one();
/// ready.notified().await;
/// # }
/// ```
pub struct Notify {
    resource: Resource,
    inner: tokio::sync::Notify,
}

impl Notify {
    /// Creates one without a notification.
    #[track_caller]
    pub fn new() -> Notify {
        tokio::sync::Notify::new().into()
    }

    /// Creates one with a name for tracers.
    #[track_caller]
    pub fn named(name: &'static str) -> Notify {
        Notify { resource: Resource::new(ResourceKind::Notify, Some(name)), inner: tokio::sync::Notify::new() }
    }

    /// Creates one in a constant expression. Its `resource-new` fires before the first wait for it.
    #[track_caller]
    pub const fn const_new() -> Notify {
        Notify { resource: Resource::in_constant(ResourceKind::Notify), inner: tokio::sync::Notify::const_new() }
    }

    /// Waits for a notification.
    ///
    /// # Cancellation
    ///
    /// Dropping the future gives up the place in the queue, and passes a notification on that it has received.
    #[track_caller]
    pub fn notified(&self) -> Notified<'_> {
        let on = On(&self.resource, Operation::Notified);
        Notified { waiting: Waiting::new(on, Location::caller(), self.inner.notified()) }
    }

    /// [`notified`](Notify::notified) with a future that keeps the `Arc`.
    #[track_caller]
    pub fn notified_owned(self: Arc<Self>) -> OwnedNotified {
        let notified = self.notified();
        // SAFETY: `OwnedNotified` keeps the `Arc` until the future is dropped, and gives nobody the future with this lifetime.
        let notified = unsafe { mem::transmute::<Notified<'_>, Notified<'static>>(notified) };
        OwnedNotified { notified, notify: self }
    }

    forward! { inner:
        /// Notifies the task that has waited longest, or the next one that waits.
        fn notify_one(&self);
        /// Notifies the task that began to wait last, or the next one that waits.
        fn notify_last(&self);
        /// Notifies all waiting tasks.
        fn notify_waiters(&self);
    }

    /// Returns tokio's.
    pub fn into_inner(self) -> tokio::sync::Notify {
        self.inner
    }
}

impl Default for Notify {
    #[track_caller]
    fn default() -> Notify {
        Notify::new()
    }
}

impl From<tokio::sync::Notify> for Notify {
    #[track_caller]
    fn from(inner: tokio::sync::Notify) -> Notify {
        Notify { resource: Resource::new(ResourceKind::Notify, None), inner }
    }
}

debug! { [] Notify; }

pin_project_lite::pin_project! {
    /// The future of [`Notify::notified`].
    #[must_use = "it waits for nothing before it is polled"]
    pub struct Notified<'a> {
        #[pin]
        waiting: Waiting<tokio::sync::futures::Notified<'a>, On<&'a Resource>>,
    }
}

pin_project_lite::pin_project! {
    /// The future of [`Notify::notified_owned`].
    #[must_use = "it waits for nothing before it is polled"]
    pub struct OwnedNotified {
        // Borrows from `notify`, and is dropped before it.
        #[pin]
        notified: Notified<'static>,
        notify: Arc<Notify>,
    }
}

impl Notified<'_> {
    /// Queues the future for notifications without polling it. Returns whether it has received one.
    pub fn enable(self: Pin<&mut Self>) -> bool {
        self.project().waiting.inner().enable()
    }
}

impl OwnedNotified {
    /// Queues the future for notifications without polling it. Returns whether it has received one.
    pub fn enable(self: Pin<&mut Self>) -> bool {
        self.project().notified.enable()
    }
}

impl Future for Notified<'_> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        self.project().waiting.poll(context)
    }
}

impl Future for OwnedNotified {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        self.project().notified.poll(context)
    }
}

impl fmt::Debug for Notified<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.waiting.get_ref().fmt(f)
    }
}

impl fmt::Debug for OwnedNotified {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OwnedNotified").field("notify", &self.notify).finish_non_exhaustive()
    }
}
