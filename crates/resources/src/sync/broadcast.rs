//! Channels all of whose receivers receive each value, with the names and signatures of [`tokio::sync::broadcast`].
//!
//! ```
//! use dyntrace::sync::broadcast;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), broadcast::error::RecvError> {
//! let (sender, mut one) = broadcast::named_channel("news", 16);
//! let mut other = sender.subscribe();
//! dyntrace::spawn(async move { sender.send(17) });
//! assert_eq!((one.recv().await?, other.recv().await?), (17, 17));
//! # Ok(())
//! # }
//! ```

use std::panic::Location;

use tokio::sync::broadcast;
pub use tokio::sync::broadcast::error;

use self::error::{RecvError, SendError, TryRecvError};
use super::half::clone;
use crate::inner::{debug, forward};
use dyntrace_processes::unpark::block_outside_tasks;
use dyntrace_processes::waiting::{Half, On, Operation, ResourceKind, Waiting};

/// Sends values to all [`Receiver`]s.
pub struct Sender<T> {
    half: Half,
    inner: broadcast::Sender<T>,
}

/// A [`Sender`] that does not keep the channel open.
pub struct WeakSender<T> {
    half: Half,
    inner: broadcast::WeakSender<T>,
}

/// Receives the values of [`Sender`]s.
pub struct Receiver<T> {
    half: Half,
    inner: broadcast::Receiver<T>,
}

/// Creates a channel for `capacity` values, rounded up to a power of 2. Senders never wait: a receiver that is behind by more than that
/// loses the oldest ones.
///
/// # Panics
///
/// Panics if `capacity` is 0, or larger than `usize::MAX / 2`.
#[track_caller]
pub fn channel<T: Clone>(capacity: usize) -> (Sender<T>, Receiver<T>) {
    halves(None, capacity)
}

/// Creates a [`channel`] with a name for tracers.
///
/// # Panics
///
/// Panics if `capacity` is 0, or larger than `usize::MAX / 2`.
#[track_caller]
pub fn named_channel<T: Clone>(name: &'static str, capacity: usize) -> (Sender<T>, Receiver<T>) {
    halves(Some(name), capacity)
}

#[track_caller]
fn halves<T: Clone>(name: Option<&'static str>, capacity: usize) -> (Sender<T>, Receiver<T>) {
    let (sender, receiver) = broadcast::channel(capacity);
    let half = Half::new(ResourceKind::Broadcast, name);
    (Sender { half: half.clone(), inner: sender }, Receiver { half, inner: receiver })
}

impl<T> Sender<T> {
    /// Creates a [`channel`] without receivers: [`subscribe`](Sender::subscribe) makes them.
    ///
    /// # Panics
    ///
    /// Panics if `capacity` is 0, or larger than `usize::MAX / 2`.
    #[track_caller]
    pub fn new(capacity: usize) -> Self {
        let inner = broadcast::Sender::new(capacity);
        Sender { half: Half::new(ResourceKind::Broadcast, None), inner }
    }

    /// Sends a value. Returns the number of receivers that can receive it.
    ///
    /// # Errors
    ///
    /// There are no receivers: returns the value.
    pub fn send(&self, value: T) -> Result<usize, SendError<T>> {
        self.inner.send(value)
    }

    /// Makes a receiver of the values that are sent from now on.
    pub fn subscribe(&self) -> Receiver<T> {
        Receiver { half: self.half.clone(), inner: self.inner.subscribe() }
    }

    /// Makes a weak sender, which does not keep the channel open.
    #[must_use = "the strong sender stays as it is"]
    pub fn downgrade(&self) -> WeakSender<T> {
        WeakSender { half: self.half.clone(), inner: self.inner.downgrade() }
    }

    forward! { inner:
        /// Returns the number of values that not all receivers have received.
        fn len(&self) -> usize;
        /// Whether all receivers have received all values.
        fn is_empty(&self) -> bool;
        /// Returns the number of receivers.
        fn receiver_count(&self) -> usize;
    }

    /// Whether both send to the same channel.
    pub fn same_channel(&self, other: &Self) -> bool {
        self.inner.same_channel(&other.inner)
    }

    /// Waits until there are no receivers.
    ///
    /// # Cancellation
    ///
    /// Dropping the future loses nothing.
    #[track_caller]
    pub fn closed(&self) -> impl Future<Output = ()> {
        Waiting::new(On(&self.half, Operation::BroadcastClosed), Location::caller(), self.inner.closed())
    }

    forward! { inner:
        /// Returns the number of senders, weak ones left out.
        fn strong_count(&self) -> usize;
        /// Returns the number of weak senders.
        fn weak_count(&self) -> usize;
    }
}

impl<T> WeakSender<T> {
    /// Makes a sender. `None` if there is none any more: the channel is closed.
    #[must_use]
    pub fn upgrade(&self) -> Option<Sender<T>> {
        Some(Sender { half: self.half.clone(), inner: self.inner.upgrade()? })
    }

    forward! { inner:
        /// Returns the number of senders, weak ones left out.
        fn strong_count(&self) -> usize;
        /// Returns the number of weak senders.
        fn weak_count(&self) -> usize;
    }
}

impl<T> Receiver<T> {
    forward! { inner:
        /// Returns the number of values that were sent and not received here, also those that are lost.
        fn len(&self) -> usize;
        /// Whether all values that were sent are received here.
        fn is_empty(&self) -> bool;
    }

    /// Whether both receive from the same channel.
    pub fn same_channel(&self, other: &Self) -> bool {
        self.inner.same_channel(&other.inner)
    }

    forward! { inner:
        /// Returns the number of senders, weak ones left out.
        fn sender_strong_count(&self) -> usize;
        /// Returns the number of weak senders.
        fn sender_weak_count(&self) -> usize;
        /// Whether all senders are dropped.
        fn is_closed(&self) -> bool;
    }
}

impl<T: Clone> Receiver<T> {
    /// Makes a receiver of the values that are sent from now on.
    pub fn resubscribe(&self) -> Self {
        Receiver { half: self.half.clone(), inner: self.inner.resubscribe() }
    }

    /// Receives the next value, once there is one.
    ///
    /// # Errors
    ///
    /// All senders are dropped, and all values received; or values are lost: returns how many, and the next call receives the oldest value
    /// that is left.
    ///
    /// # Cancellation
    ///
    /// Dropping the future loses no value.
    #[track_caller]
    pub fn recv(&mut self) -> impl Future<Output = Result<T, RecvError>> {
        Waiting::new(On(&self.half, Operation::BroadcastRecv), Location::caller(), self.inner.recv())
    }

    /// Receives the next value if there is one.
    ///
    /// # Errors
    ///
    /// There is none, or one of the errors of [`recv`](Receiver::recv).
    pub fn try_recv(&mut self) -> Result<T, TryRecvError> {
        self.inner.try_recv()
    }

    /// [`recv`](Receiver::recv) for use outside of asynchronous tasks: blocks the thread.
    ///
    /// # Panics
    ///
    /// Panics in an asynchronous task, as tokio's does.
    #[track_caller]
    pub fn blocking_recv(&mut self) -> Result<T, RecvError> {
        block_outside_tasks(self.recv())
    }
}

clone! { Sender, WeakSender }

debug! {
    [T] Sender<T>;
    [T] WeakSender<T>;
    [T] Receiver<T>;
}
