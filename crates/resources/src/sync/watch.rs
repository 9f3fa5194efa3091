//! Channels that keep the last value only, with the names and signatures of [`tokio::sync::watch`].
//!
//! ```
//! use dyntrace::sync::watch;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), watch::error::RecvError> {
//! let (sender, mut receiver) = watch::named_channel("price", 130);
//! dyntrace::spawn(async move { sender.send(150) });
//! receiver.changed().await?;
//! assert_eq!(*receiver.borrow_and_update(), 150);
//! # Ok(())
//! # }
//! ```

use std::fmt;
use std::panic::Location;

use tokio::sync::watch;
pub use tokio::sync::watch::{Ref, error};

use self::error::{RecvError, SendError};
use super::half::clone;
use crate::inner::{debug, forward};
use dyntrace_processes::waiting::{Half, On, Operation, ResourceKind, Waiting};

/// Sends values to [`Receiver`]s.
pub struct Sender<T> {
    half: Half,
    inner: watch::Sender<T>,
}

/// Receives the last value of [`Sender`]s. Knows which value it has seen.
pub struct Receiver<T> {
    half: Half,
    inner: watch::Receiver<T>,
}

/// Creates a channel with a first value, which its receiver has seen.
#[track_caller]
pub fn channel<T>(init: T) -> (Sender<T>, Receiver<T>) {
    halves(None, init)
}

/// Creates a [`channel`] with a name for tracers.
#[track_caller]
pub fn named_channel<T>(name: &'static str, init: T) -> (Sender<T>, Receiver<T>) {
    halves(Some(name), init)
}

#[track_caller]
fn halves<T>(name: Option<&'static str>, init: T) -> (Sender<T>, Receiver<T>) {
    let (sender, receiver) = watch::channel(init);
    let half = Half::new(ResourceKind::Watch, name);
    (Sender { half: half.clone(), inner: sender }, Receiver { half, inner: receiver })
}

impl<T> Sender<T> {
    /// Creates a channel without receivers: [`subscribe`](Sender::subscribe) makes them.
    #[track_caller]
    pub fn new(init: T) -> Self {
        Sender { half: Half::new(ResourceKind::Watch, None), inner: watch::Sender::new(init) }
    }

    /// Sends a value. Blocks the thread while a [`Ref`] of this channel exists, as all functions do that change the value.
    ///
    /// # Errors
    ///
    /// There are no receivers: returns the value, and the channel keeps its last one.
    pub fn send(&self, value: T) -> Result<(), SendError<T>> {
        self.inner.send(value)
    }

    /// Changes the value in its place, also if there are no receivers.
    ///
    /// # Panics
    ///
    /// Panics if `modify` does. Receivers are not notified then.
    pub fn send_modify<F: FnOnce(&mut T)>(&self, modify: F) {
        self.inner.send_modify(modify);
    }

    /// Changes the value in its place, also if there are no receivers. Notifies them if `modify` returns `true`. Returns what it returned.
    ///
    /// # Panics
    ///
    /// Panics if `modify` does. Receivers are not notified then.
    pub fn send_if_modified<F: FnOnce(&mut T) -> bool>(&self, modify: F) -> bool {
        self.inner.send_if_modified(modify)
    }

    forward! { inner:
        /// Sends a value, also if there are no receivers. Returns the one before.
        fn send_replace(&self, value: T) -> T;
        /// Borrows the last value. Senders block their threads until the [`Ref`] is dropped: drop it before the next await.
        fn borrow(&self) -> Ref<'_, T>;
        /// Whether there are no receivers.
        fn is_closed(&self) -> bool;
    }

    /// Waits until there are no receivers.
    ///
    /// # Cancellation
    ///
    /// Dropping the future loses nothing.
    #[track_caller]
    pub fn closed(&self) -> impl Future<Output = ()> {
        Waiting::new(On(&self.half, Operation::WatchClosed), Location::caller(), self.inner.closed())
    }

    /// Makes a receiver that has seen the last value.
    pub fn subscribe(&self) -> Receiver<T> {
        Receiver { half: self.half.clone(), inner: self.inner.subscribe() }
    }

    forward! { inner:
        /// Returns the number of receivers.
        fn receiver_count(&self) -> usize;
        /// Returns the number of senders.
        fn sender_count(&self) -> usize;
    }

    /// Whether both send to the same channel.
    pub fn same_channel(&self, other: &Self) -> bool {
        self.inner.same_channel(&other.inner)
    }
}

impl<T> Receiver<T> {
    forward! { inner:
        /// Borrows the last value, which does not count as seen. Senders block their threads until the [`Ref`] is dropped: drop it before
        /// the next await.
        fn borrow(&self) -> Ref<'_, T>;
        /// [`borrow`](Receiver::borrow), after which the value counts as seen.
        fn borrow_and_update(&mut self) -> Ref<'_, T>;

        /// Whether the last value is one that this receiver has not seen.
        ///
        /// # Errors
        ///
        /// All senders are dropped, also if there is such a value.
        fn has_changed(&self) -> Result<bool, RecvError>;
    }

    /// Whether all senders are dropped.
    pub fn is_closed(&self) -> bool {
        // Of tokio's own only newer versions have this.
        self.inner.has_changed().is_err()
    }

    forward! { inner:
        /// Has the last value count as not seen.
        fn mark_changed(&mut self);
        /// Has the last value count as seen.
        fn mark_unchanged(&mut self);
    }

    /// Waits for a value that this receiver has not seen. It counts as seen then.
    ///
    /// # Errors
    ///
    /// All senders are dropped, and the last value was seen.
    ///
    /// # Cancellation
    ///
    /// Dropping the future loses no change: no value counts as seen by it.
    #[track_caller]
    pub fn changed(&mut self) -> impl Future<Output = Result<(), RecvError>> {
        Waiting::new(On(&self.half, Operation::WatchChanged), Location::caller(), self.inner.changed())
    }

    /// Waits until `f` returns `true` for the last value. Borrows that value, which counts as seen.
    ///
    /// # Errors
    ///
    /// All senders are dropped, and `f` returned `false` for the last value.
    ///
    /// # Panics
    ///
    /// Panics if `f` does.
    ///
    /// # Cancellation
    ///
    /// If the future is dropped, `f` has returned `false` for all values that count as seen by it.
    #[track_caller]
    pub fn wait_for(&mut self, f: impl FnMut(&T) -> bool) -> impl Future<Output = Result<Ref<'_, T>, RecvError>> {
        Waiting::new(On(&self.half, Operation::WatchWaitFor), Location::caller(), self.inner.wait_for(f))
    }

    /// Whether both receive from the same channel.
    pub fn same_channel(&self, other: &Self) -> bool {
        self.inner.same_channel(&other.inner)
    }
}

clone! { Sender, Receiver }

impl<T: Default> Default for Sender<T> {
    #[track_caller]
    fn default() -> Self {
        Sender::new(T::default())
    }
}

debug! {
    [T: fmt::Debug] Sender<T>;
    [T: fmt::Debug] Receiver<T>;
}
