//! The sending end of a mailbox.

use std::fmt;
use std::panic::Location;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::sync::mpsc::error::{SendError, SendTimeoutError, TrySendError};
use tokio::task::coop;

use super::envelope::Envelope;
use super::permit::{OwnedPermit, Permit, PermitIterator};
use super::shared::{OWN, Shared, is_noticed};
use dyntrace_processes::process;
use dyntrace_processes::unpark::block_outside_tasks;
use dyntrace_processes::waiting::{OfProcess, Waiting};

/// The operation of a wait for a place.
const SEND: &str = "mailbox::Sender::send";

/// Sends messages to one mailbox. It has the methods of `tokio::sync::mpsc::Sender`.
///
/// `Debug` and `Display` show the [pid](Sender::id) of the receiving process. The mailbox closes when the last clone is dropped.
pub struct Sender<T> {
    pub(super) sender: mpsc::Sender<Envelope<T>>,
    pub(super) shared: Arc<Shared<T>>,
}

impl<T> Sender<T> {
    pub(super) fn new(sender: mpsc::Sender<Envelope<T>>, shared: Arc<Shared<T>>) -> Self {
        Sender { sender, shared }
    }

    /// Sends a message. Waits for a place if the mailbox is full.
    ///
    /// # Errors
    ///
    /// Returns the message if the mailbox is closed: its process has ended, or has closed it.
    ///
    /// # Cancellation
    ///
    /// A future that is dropped while it waits drops its message unsent.
    #[track_caller]
    pub fn send(&self, message: T) -> impl Future<Output = Result<(), SendError<T>>> {
        self.send_at(Location::caller(), message)
    }

    async fn send_at(&self, place: &'static Location<'static>, message: T) -> Result<(), SendError<T>> {
        // As tokio's: a task that sends in a loop must yield to others.
        coop::consume_budget().await;
        // Usually there is a place, and no future that waits for one is needed.
        let message = match self.try_send(message) {
            Err(TrySendError::Full(message)) => message,
            Err(TrySendError::Closed(message)) => return Err(SendError(message)),
            Ok(()) => return Ok(()),
        };
        match self.reserve_at(place).await {
            Ok(permit) => {
                permit.send(message);
                Ok(())
            }
            Err(SendError(())) => Err(SendError(message)),
        }
    }

    /// Sends a message if the mailbox has a place for it now.
    ///
    /// # Errors
    ///
    /// Returns the message if the mailbox is full or closed.
    #[inline]
    pub fn try_send(&self, message: T) -> Result<(), TrySendError<T>> {
        if is_noticed() {
            return self.try_send_noticed(message);
        }
        self.shared.source.answer();
        self.sender.try_send(Envelope::with_nothing(message)).map_err(|refused| match refused {
            TrySendError::Full(envelope) => TrySendError::Full(envelope.message),
            TrySendError::Closed(envelope) => TrySendError::Closed(envelope.message),
        })
    }

    /// Apart from the rest, so that another message is written only once: in the channel.
    #[inline(never)]
    fn try_send_noticed(&self, message: T) -> Result<(), TrySendError<T>> {
        match self.try_reserve() {
            Ok(permit) => {
                permit.send_inlined(message);
                Ok(())
            }
            Err(TrySendError::Full(())) => Err(TrySendError::Full(message)),
            Err(TrySendError::Closed(())) => Err(TrySendError::Closed(message)),
        }
    }

    /// Sends a message. Waits for a place for `timeout` at most.
    ///
    /// # Errors
    ///
    /// Returns the message if the mailbox is closed, or still full after `timeout`.
    ///
    /// # Panics
    ///
    /// Panics outside of a tokio runtime with an enabled timer, as tokio's does.
    #[track_caller]
    pub fn send_timeout(&self, message: T, timeout: Duration) -> impl Future<Output = Result<(), SendTimeoutError<T>>> {
        let place = Location::caller();
        async move {
            match tokio::time::timeout(timeout, self.reserve_at(place)).await {
                Ok(Ok(permit)) => {
                    permit.send(message);
                    Ok(())
                }
                Ok(Err(SendError(()))) => Err(SendTimeoutError::Closed(message)),
                Err(_) => Err(SendTimeoutError::Timeout(message)),
            }
        }
    }

    /// [`send`](Sender::send) for use outside of asynchronous tasks: blocks the thread while the mailbox is full.
    ///
    /// # Errors
    ///
    /// Returns the message if the mailbox is closed.
    ///
    /// # Panics
    ///
    /// Panics in an asynchronous task, as tokio's does.
    #[track_caller]
    pub fn blocking_send(&self, message: T) -> Result<(), SendError<T>> {
        block_outside_tasks(self.send(message))
    }

    /// Waits for a place in the mailbox and reserves it for one message.
    ///
    /// # Errors
    ///
    /// Fails if the mailbox is closed.
    ///
    /// # Cancellation
    ///
    /// A dropped future loses its turn in the queue of waiting senders.
    #[track_caller]
    pub fn reserve(&self) -> impl Future<Output = Result<Permit<'_, T>, SendError<()>>> {
        self.reserve_at(Location::caller())
    }

    async fn reserve_at(&self, place: &'static Location<'static>) -> Result<Permit<'_, T>, SendError<()>> {
        Ok(Permit { permit: self.waits(SEND, place, self.sender.reserve()).await?, sender: self })
    }

    /// Reserves a place for one message if there is one now.
    ///
    /// # Errors
    ///
    /// Fails if the mailbox is full or closed.
    #[inline]
    pub fn try_reserve(&self) -> Result<Permit<'_, T>, TrySendError<()>> {
        Ok(Permit { permit: self.sender.try_reserve()?, sender: self })
    }

    /// Waits for `places` places in the mailbox and reserves them, each for one message.
    ///
    /// # Errors
    ///
    /// Fails if the mailbox is closed, or has fewer places in all.
    ///
    /// # Cancellation
    ///
    /// A dropped future loses its turn in the queue of waiting senders.
    #[track_caller]
    pub fn reserve_many(&self, places: usize) -> impl Future<Output = Result<PermitIterator<'_, T>, SendError<()>>> {
        let waits = self.waits(SEND, Location::caller(), self.sender.reserve_many(places));
        async move { Ok(PermitIterator { permits: waits.await?, sender: self }) }
    }

    /// Reserves `places` places if there are as many now.
    ///
    /// # Errors
    ///
    /// Fails if the mailbox is closed, or has fewer free places.
    pub fn try_reserve_many(&self, places: usize) -> Result<PermitIterator<'_, T>, TrySendError<()>> {
        Ok(PermitIterator { permits: self.sender.try_reserve_many(places)?, sender: self })
    }

    /// Like [`reserve`](Sender::reserve), for a permit that owns this sender.
    ///
    /// # Errors
    ///
    /// Fails if the mailbox is closed.
    ///
    /// # Cancellation
    ///
    /// A dropped future loses its turn in the queue of waiting senders, and drops the sender.
    #[track_caller]
    pub fn reserve_owned(self) -> impl Future<Output = Result<OwnedPermit<T>, SendError<()>>> {
        let place = Location::caller();
        async move {
            let Sender { sender, shared } = self;
            let waits = Waiting::new(OfProcess::new(shared.owner(), SEND), place, sender.reserve_owned());
            Ok(OwnedPermit::new(waits.await?, shared))
        }
    }

    /// Like [`try_reserve`](Sender::try_reserve), for a permit that owns this sender.
    ///
    /// # Errors
    ///
    /// Returns the sender if the mailbox is full or closed.
    pub fn try_reserve_owned(self) -> Result<OwnedPermit<T>, TrySendError<Self>> {
        let Sender { sender, shared } = self;
        match sender.try_reserve_owned() {
            Ok(permit) => Ok(OwnedPermit::new(permit, shared)),
            Err(TrySendError::Full(sender)) => Err(TrySendError::Full(Sender { sender, shared })),
            Err(TrySendError::Closed(sender)) => Err(TrySendError::Closed(Sender { sender, shared })),
        }
    }

    /// Waits until the mailbox is closed.
    #[track_caller]
    pub fn closed(&self) -> impl Future<Output = ()> {
        self.waits("mailbox::Sender::closed", Location::caller(), self.sender.closed())
    }

    /// A future that waits for the process of the mailbox, which is the present one also if the mailbox goes to another meanwhile.
    fn waits<F>(&self, kind: &'static str, place: &'static Location<'static>, future: F) -> Waiting<F, OfProcess> {
        Waiting::new(OfProcess::new(self.id(), kind), place, future)
    }

    /// Returns whether the mailbox is closed: its process has ended, or has closed it.
    pub fn is_closed(&self) -> bool {
        self.sender.is_closed()
    }

    /// Returns whether both send to the same mailbox.
    pub fn same_channel(&self, other: &Self) -> bool {
        self.sender.same_channel(&other.sender)
    }

    /// Returns the number of free places.
    pub fn capacity(&self) -> usize {
        self.sender.capacity()
    }

    /// Returns the number of places, free or not.
    pub fn max_capacity(&self) -> usize {
        self.sender.max_capacity()
    }

    /// Returns the number of senders that keep the mailbox open.
    pub fn strong_count(&self) -> usize {
        self.sender.strong_count()
    }

    /// Returns the number of [weak](super::WeakSender) senders.
    pub fn weak_count(&self) -> usize {
        self.sender.weak_count() - OWN
    }

    /// Returns the pid of the process that receives.
    pub fn id(&self) -> process::Pid {
        self.shared.owner()
    }

    /// The identity of the mailbox, for the registry.
    pub(super) fn mailbox(&self) -> usize {
        Arc::as_ptr(&self.shared).addr()
    }

    /// Whether `shared` belongs to this mailbox.
    pub(super) fn is_of(&self, shared: &Arc<Shared<T>>) -> bool {
        Arc::ptr_eq(&self.shared, shared)
    }

    /// Puts a message that has its place into its envelope.
    #[inline(always)]
    pub(super) fn seal(&self, message: T) -> Envelope<T> {
        self.shared.seal(message, || self.shared.queue_len(&self.sender))
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        Sender { sender: self.sender.clone(), shared: self.shared.clone() }
    }
}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.id().fmt(f)
    }
}

impl<T> fmt::Display for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.id().fmt(f)
    }
}
