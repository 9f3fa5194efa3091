//! The end where messages go in.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::sync::mpsc::error::{SendError, SendTimeoutError, TrySendError};
use tokio::task::coop;

use super::envelope::{Carried, Envelope};
use super::shared::Shared;
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
        WeakSender { sender: self.sender.downgrade(), shared: self.shared.clone() }
    }

    /// How many senders keep the mailbox open.
    pub fn strong_count(&self) -> usize {
        self.sender.strong_count()
    }

    /// How many senders there are that do not.
    pub fn weak_count(&self) -> usize {
        self.sender.weak_count()
    }

    /// The process that receives.
    pub fn id(&self) -> process::Pid {
        self.shared.owner()
    }

    /// Which mailbox it is, for the registry.
    pub(super) fn mailbox(&self) -> usize {
        Arc::as_ptr(&self.shared).addr()
    }

    /// How long the queue is, with what is about to be in it.
    fn queue_len(&self) -> usize {
        self.sender.max_capacity() - self.sender.capacity() + self.shared.passed_over()
    }

    /// Makes a message ready to go, and tells tracers of it. So many places more than are taken now will be.
    #[inline]
    fn seal(&self, message: T, more: usize) -> Envelope<T> {
        let envelope = Envelope { message, carried: Carried::on_send() };
        self.shared.tell_sent(&envelope, || self.queue_len() + more);
        envelope
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

/// A [`Sender`] that does not keep the mailbox open.
pub struct WeakSender<T> {
    sender: mpsc::WeakSender<Envelope<T>>,
    shared: Arc<Shared<T>>,
}

impl<T> WeakSender<T> {
    /// A sender, if there is still one that keeps the mailbox open.
    pub fn upgrade(&self) -> Option<Sender<T>> {
        Some(Sender { sender: self.sender.upgrade()?, shared: self.shared.clone() })
    }
}

impl<T> Clone for WeakSender<T> {
    fn clone(&self) -> Self {
        WeakSender { sender: self.sender.clone(), shared: self.shared.clone() }
    }
}

impl<T> fmt::Debug for WeakSender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.shared.owner().fmt(f)
    }
}

/// A place in a mailbox, for one message. Dropped, it is free for others.
pub struct Permit<'a, T> {
    permit: mpsc::Permit<'a, Envelope<T>>,
    sender: &'a Sender<T>,
}

impl<T> Permit<'_, T> {
    /// Sends the message. If the mailbox was closed since, it is still received.
    pub fn send(self, message: T) {
        // Its place is taken already.
        self.permit.send(self.sender.seal(message, 0));
    }
}

impl<T> fmt::Debug for Permit<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Permit").field(&self.sender.id()).finish()
    }
}
