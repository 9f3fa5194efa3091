//! The end where messages go in.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::sync::mpsc::error::{SendError, SendTimeoutError, TrySendError};
use tokio::task::coop;

use super::envelope::Envelope;
use super::permit::{OwnedPermit, Permit, PermitIterator};
use super::shared::{OWN, Shared};
use super::weak::WeakSender;
use crate::process;

/// Sends messages to one mailbox, by any number of clones; the shape of `tokio::sync::mpsc::Sender`.
///
/// It is shown as the [pid](Sender::id) of the process that receives. The mailbox closes when the last one is dropped.
pub struct Sender<T> {
    sender: mpsc::Sender<Envelope<T>>,
    shared: Arc<Shared<T>>,
}

impl<T> Sender<T> {
    pub(super) fn new(sender: mpsc::Sender<Envelope<T>>, shared: Arc<Shared<T>>) -> Self {
        Sender { sender, shared }
    }

    /// Sends a message, and waits for a place in the mailbox if that is full.
    ///
    /// Cancellation: a message whose future was dropped while it waited is not sent, and dropped.
    ///
    /// # Errors
    ///
    /// With the message, if the mailbox is closed: its process has ended, or takes no more.
    pub async fn send(&self, message: T) -> Result<(), SendError<T>> {
        // As tokio's: who sends without end lets others run, too.
        coop::consume_budget().await;
        // Most often there is a place. Then there is no need for a future that can wait for one.
        let message = match self.try_send(message) {
            Err(TrySendError::Full(message)) => message,
            Err(TrySendError::Closed(message)) => return Err(SendError(message)),
            Ok(()) => return Ok(()),
        };
        match self.reserve().await {
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
    /// With the message, if the mailbox is full or closed.
    #[inline]
    pub fn try_send(&self, message: T) -> Result<(), TrySendError<T>> {
        match self.try_reserve() {
            Ok(permit) => {
                permit.send(message);
                Ok(())
            }
            Err(TrySendError::Full(())) => Err(TrySendError::Full(message)),
            Err(TrySendError::Closed(())) => Err(TrySendError::Closed(message)),
        }
    }

    /// Sends a message, and waits for a place no longer than `timeout`.
    ///
    /// # Errors
    ///
    /// With the message, if the mailbox is closed, or still full.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime with its timer enabled, as tokio's does.
    pub async fn send_timeout(&self, message: T, timeout: Duration) -> Result<(), SendTimeoutError<T>> {
        match tokio::time::timeout(timeout, self.reserve()).await {
            Ok(Ok(permit)) => {
                permit.send(message);
                Ok(())
            }
            Ok(Err(SendError(()))) => Err(SendTimeoutError::Closed(message)),
            Err(_) => Err(SendTimeoutError::Timeout(message)),
        }
    }

    /// Sends a message from a thread that is no task's, and blocks it while the mailbox is full. Here `message-send` fires
    /// before the wait.
    ///
    /// # Errors
    ///
    /// With the message, if the mailbox is closed.
    ///
    /// # Panics
    ///
    /// In an asynchronous task, as tokio's does.
    pub fn blocking_send(&self, message: T) -> Result<(), SendError<T>> {
        let envelope = self.seal(message, 1);
        self.sender.blocking_send(envelope).map_err(|SendError(envelope)| SendError(envelope.message))
    }

    /// Waits for a place in the mailbox and keeps it, for one message.
    ///
    /// Cancellation: loses the turn among those that wait.
    ///
    /// # Errors
    ///
    /// If the mailbox is closed.
    pub async fn reserve(&self) -> Result<Permit<'_, T>, SendError<()>> {
        Ok(Permit { permit: self.sender.reserve().await?, sender: self })
    }

    /// The same, if there is a place now.
    ///
    /// # Errors
    ///
    /// If the mailbox is full or closed.
    #[inline]
    pub fn try_reserve(&self) -> Result<Permit<'_, T>, TrySendError<()>> {
        Ok(Permit { permit: self.sender.try_reserve()?, sender: self })
    }

    /// Waits for so many places in the mailbox and keeps them, each for one message.
    ///
    /// Cancellation: loses the turn among those that wait.
    ///
    /// # Errors
    ///
    /// If the mailbox is closed, or has fewer places than that at all.
    pub async fn reserve_many(&self, places: usize) -> Result<PermitIterator<'_, T>, SendError<()>> {
        Ok(PermitIterator { permits: self.sender.reserve_many(places).await?, sender: self })
    }

    /// The same, if there are as many places now.
    ///
    /// # Errors
    ///
    /// If the mailbox is closed, or has fewer places now.
    pub fn try_reserve_many(&self, places: usize) -> Result<PermitIterator<'_, T>, TrySendError<()>> {
        Ok(PermitIterator { permits: self.sender.try_reserve_many(places)?, sender: self })
    }

    /// [`reserve`](Sender::reserve) for a permit that has this sender in it.
    ///
    /// Cancellation: loses the turn among those that wait, and drops the sender.
    ///
    /// # Errors
    ///
    /// If the mailbox is closed.
    pub async fn reserve_owned(self) -> Result<OwnedPermit<T>, SendError<()>> {
        let Sender { sender, shared } = self;
        Ok(OwnedPermit::new(sender.reserve_owned().await?, shared))
    }

    /// The same, if there is a place now.
    ///
    /// # Errors
    ///
    /// With the sender, if the mailbox is full or closed.
    pub fn try_reserve_owned(self) -> Result<OwnedPermit<T>, TrySendError<Self>> {
        let Sender { sender, shared } = self;
        match sender.try_reserve_owned() {
            Ok(permit) => Ok(OwnedPermit::new(permit, shared)),
            Err(TrySendError::Full(sender)) => Err(TrySendError::Full(Sender { sender, shared })),
            Err(TrySendError::Closed(sender)) => Err(TrySendError::Closed(Sender { sender, shared })),
        }
    }

    /// Waits until the mailbox is closed.
    pub async fn closed(&self) {
        self.sender.closed().await;
    }

    /// Whether the mailbox is closed: by its process, or with it.
    pub fn is_closed(&self) -> bool {
        self.sender.is_closed()
    }

    /// Whether both send to the same mailbox.
    pub fn same_channel(&self, other: &Self) -> bool {
        self.sender.same_channel(&other.sender)
    }

    /// How many places are free now.
    pub fn capacity(&self) -> usize {
        self.sender.capacity()
    }

    /// How many places there are.
    pub fn max_capacity(&self) -> usize {
        self.sender.max_capacity()
    }

    /// One that does not keep the mailbox open.
    pub fn downgrade(&self) -> WeakSender<T> {
        WeakSender::new(self.sender.downgrade(), self.shared.clone())
    }

    /// How many senders keep the mailbox open.
    pub fn strong_count(&self) -> usize {
        self.sender.strong_count()
    }

    /// How many senders there are that do not.
    pub fn weak_count(&self) -> usize {
        self.sender.weak_count() - OWN
    }

    /// The process that receives.
    pub fn id(&self) -> process::Pid {
        self.shared.owner()
    }

    /// Which mailbox it is, for the registry.
    pub(super) fn mailbox(&self) -> usize {
        Arc::as_ptr(&self.shared).addr()
    }

    /// Whether it sends to the mailbox that has this.
    pub(super) fn is_of(&self, shared: &Arc<Shared<T>>) -> bool {
        Arc::ptr_eq(&self.shared, shared)
    }

    /// Makes a message ready to go. So many places more than are taken now will be.
    #[inline]
    pub(super) fn seal(&self, message: T, more: usize) -> Envelope<T> {
        self.shared.seal(message, || self.shared.queue_len(&self.sender) + more)
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
