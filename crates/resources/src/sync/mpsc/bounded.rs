//! Channels with a bound.

use std::panic::Location;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::sync::mpsc::error::{SendError, SendTimeoutError, TryRecvError, TrySendError};
use tokio::sync::mpsc::{self, Permit, PermitIterator};

use super::super::acquire::turn;
use super::super::half::clone;
use super::{receiver, sender};
use crate::inner::{debug, forward};
use dyntrace_processes::unpark::block_outside_tasks;
use dyntrace_processes::waiting::{Half, On, Operation, ResourceKind, Waiting};

/// Sends messages to a [`Receiver`].
pub struct Sender<T> {
    half: Half,
    inner: mpsc::Sender<T>,
}

/// A [`Sender`] that does not keep the channel open.
pub struct WeakSender<T> {
    half: Half,
    inner: mpsc::WeakSender<T>,
}

/// Receives the messages of [`Sender`]s.
pub struct Receiver<T> {
    half: Half,
    inner: mpsc::Receiver<T>,
}

/// Creates a channel for `buffer` messages: senders wait while it is full.
///
/// # Panics
///
/// Panics if `buffer` is 0.
#[track_caller]
pub fn channel<T>(buffer: usize) -> (Sender<T>, Receiver<T>) {
    halves(None, buffer)
}

/// Creates a [`channel`] with a name for tracers.
///
/// # Panics
///
/// Panics if `buffer` is 0.
#[track_caller]
pub fn named_channel<T>(name: &'static str, buffer: usize) -> (Sender<T>, Receiver<T>) {
    halves(Some(name), buffer)
}

#[track_caller]
fn halves<T>(name: Option<&'static str>, buffer: usize) -> (Sender<T>, Receiver<T>) {
    let (sender, receiver) = mpsc::channel(buffer);
    let half = Half::new(ResourceKind::Mpsc, name);
    (Sender { half: half.clone(), inner: sender }, Receiver { half, inner: receiver })
}

receiver!(Receiver);

impl<T> Receiver<T> {
    forward! { inner:
        /// Returns the number of messages that can be sent now.
        fn capacity(&self) -> usize;
        /// Returns the number of messages that the channel was made for.
        fn max_capacity(&self) -> usize;
    }
}

sender!(Sender, WeakSender);

impl<T> Sender<T> {
    /// Sends a message, once there is room.
    ///
    /// # Errors
    ///
    /// The channel is closed: returns the message.
    ///
    /// # Cancellation
    ///
    /// Dropping the future drops the message if it was not sent.
    #[track_caller]
    pub fn send(&self, value: T) -> impl Future<Output = Result<(), SendError<T>>> {
        let place = Location::caller();
        async move {
            // First: the channel may be closed while the task waits for its turn.
            turn().await;
            // Without tokio's future, which costs more than the rest. Nobody is overtaken: while others wait, there is no room.
            let permit = match self.inner.try_reserve() {
                Ok(permit) => permit,
                Err(TrySendError::Closed(())) => return Err(SendError(value)),
                Err(TrySendError::Full(())) => match self.reserve_at(place).await {
                    Ok(permit) => permit,
                    Err(SendError(())) => return Err(SendError(value)),
                },
            };
            permit.send(value);
            Ok(())
        }
    }

    /// [`send`](Sender::send) that gives up after some time.
    ///
    /// # Errors
    ///
    /// The channel is closed, or the time is over: returns the message.
    ///
    /// # Panics
    ///
    /// Panics outside of a tokio runtime with timers.
    #[track_caller]
    pub fn send_timeout(&self, value: T, timeout: Duration) -> impl Future<Output = Result<(), SendTimeoutError<T>>> {
        let place = Location::caller();
        async move {
            match tokio::time::timeout(timeout, self.reserve_at(place)).await {
                Err(_) => return Err(SendTimeoutError::Timeout(value)),
                Ok(Err(_)) => return Err(SendTimeoutError::Closed(value)),
                Ok(Ok(permit)) => permit.send(value),
            }
            Ok(())
        }
    }

    fn reserve_at(
        &self,
        place: &'static Location<'static>,
    ) -> impl Future<Output = Result<Permit<'_, T>, SendError<()>>> {
        Waiting::new(On(&self.half, Operation::Reserve), place, self.inner.reserve())
    }

    /// Sends a message if there is room.
    ///
    /// # Errors
    ///
    /// The channel is full or closed: returns the message.
    pub fn try_send(&self, message: T) -> Result<(), TrySendError<T>> {
        self.inner.try_send(message)
    }

    /// [`send`](Sender::send) for use outside of asynchronous tasks: blocks the thread.
    ///
    /// # Errors
    ///
    /// The channel is closed: returns the message.
    ///
    /// # Panics
    ///
    /// Panics in an asynchronous task, as tokio's does.
    #[track_caller]
    pub fn blocking_send(&self, value: T) -> Result<(), SendError<T>> {
        block_outside_tasks(self.send(value))
    }

    /// Reserves room for a message, once there is some.
    ///
    /// # Errors
    ///
    /// The channel is closed.
    ///
    /// # Cancellation
    ///
    /// Dropping the future gives up the place in the queue.
    #[track_caller]
    pub fn reserve(&self) -> impl Future<Output = Result<Permit<'_, T>, SendError<()>>> {
        self.reserve_at(Location::caller())
    }

    /// Reserves room for `n` messages at once, as [`reserve`](Sender::reserve) for one.
    #[track_caller]
    pub fn reserve_many(&self, n: usize) -> impl Future<Output = Result<PermitIterator<'_, T>, SendError<()>>> {
        Waiting::new(On(&self.half, Operation::Reserve), Location::caller(), self.inner.reserve_many(n))
    }

    /// [`reserve`](Sender::reserve) with a permit that keeps the sender.
    #[track_caller]
    pub fn reserve_owned(self) -> impl Future<Output = Result<OwnedPermit<T>, SendError<()>>> {
        let place = Location::caller();
        async move {
            let Sender { half, inner } = self;
            let inner = Waiting::new(On(&half, Operation::Reserve), place, inner.reserve_owned()).await?;
            Ok(OwnedPermit { half, inner })
        }
    }

    /// Reserves room for a message if there is some.
    ///
    /// # Errors
    ///
    /// The channel is full or closed.
    pub fn try_reserve(&self) -> Result<Permit<'_, T>, TrySendError<()>> {
        self.inner.try_reserve()
    }

    /// Reserves room for `n` messages if there is so much.
    ///
    /// # Errors
    ///
    /// There is less, or the channel is closed.
    pub fn try_reserve_many(&self, n: usize) -> Result<PermitIterator<'_, T>, TrySendError<()>> {
        self.inner.try_reserve_many(n)
    }

    /// [`try_reserve`](Sender::try_reserve) with a permit that keeps the sender.
    ///
    /// # Errors
    ///
    /// The channel is full or closed: returns the sender.
    pub fn try_reserve_owned(self) -> Result<OwnedPermit<T>, TrySendError<Self>> {
        let Sender { half, inner } = self;
        match inner.try_reserve_owned() {
            Ok(inner) => Ok(OwnedPermit { half, inner }),
            Err(TrySendError::Full(inner)) => Err(TrySendError::Full(Sender { half, inner })),
            Err(TrySendError::Closed(inner)) => Err(TrySendError::Closed(Sender { half, inner })),
        }
    }

    forward! { inner:
        /// Returns the number of messages that can be sent now.
        fn capacity(&self) -> usize;
        /// Returns the number of messages that the channel was made for.
        fn max_capacity(&self) -> usize;
    }
}

/// Room for a message, with the sender.
pub struct OwnedPermit<T> {
    half: Half,
    inner: mpsc::OwnedPermit<T>,
}

impl<T> OwnedPermit<T> {
    /// Sends a message. Returns the sender.
    pub fn send(self, value: T) -> Sender<T> {
        Sender { half: self.half, inner: self.inner.send(value) }
    }

    /// Gives the room back. Returns the sender.
    pub fn release(self) -> Sender<T> {
        Sender { half: self.half, inner: self.inner.release() }
    }

    /// Whether both send to the same channel.
    pub fn same_channel(&self, other: &Self) -> bool {
        self.inner.same_channel(&other.inner)
    }

    /// Whether the sender sends to the same channel.
    pub fn same_channel_as_sender(&self, sender: &Sender<T>) -> bool {
        self.inner.same_channel_as_sender(&sender.inner)
    }
}

debug! { [T] OwnedPermit<T>; }
