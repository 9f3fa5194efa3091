//! The shape of tokio's channels without a bound, whose senders never wait.

use std::fmt;

use tokio::sync::mpsc::error::{SendError, TrySendError};

use super::options::Options;
use super::receiver::Receiver;
use super::sender::Sender;
use super::weak::WeakSender;

/// A mailbox without a bound; the shape of `tokio::sync::mpsc::unbounded_channel`.
///
/// ```
/// let (sender, mut receiver) = dyntrace::mailbox::unbounded_channel();
/// sender.send("hello")?;
/// assert_eq!(receiver.try_recv()?, "hello");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn unbounded_channel<T>() -> (UnboundedSender<T>, UnboundedReceiver<T>) {
    let (sender, receiver) = Options::new().channel();
    (UnboundedSender { sender }, receiver)
}

/// The end of an unbounded mailbox where messages come out.
pub type UnboundedReceiver<T> = Receiver<T>;

/// A [`Sender`] to a mailbox without a bound: it never waits. The shape of `tokio::sync::mpsc::UnboundedSender`.
pub struct UnboundedSender<T> {
    sender: Sender<T>,
}

impl<T> UnboundedSender<T> {
    /// Sends a message.
    ///
    /// # Errors
    ///
    /// With the message, if the mailbox is closed: its process has ended, or takes no more.
    pub fn send(&self, message: T) -> Result<(), SendError<T>> {
        // There are more places than memory has room for.
        self.sender
            .try_send(message)
            .map_err(|(TrySendError::Closed(message) | TrySendError::Full(message))| SendError(message))
    }

    /// The same as the address of a process, for [`register`](super::register) and whoever takes one.
    pub fn pid(&self) -> &Sender<T> {
        &self.sender
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

    /// One that does not keep the mailbox open.
    pub fn downgrade(&self) -> WeakUnboundedSender<T> {
        WeakUnboundedSender { sender: self.sender.downgrade() }
    }

    /// How many senders keep the mailbox open.
    pub fn strong_count(&self) -> usize {
        self.sender.strong_count()
    }

    /// How many senders there are that do not.
    pub fn weak_count(&self) -> usize {
        self.sender.weak_count()
    }
}

impl<T> Clone for UnboundedSender<T> {
    fn clone(&self) -> Self {
        UnboundedSender { sender: self.sender.clone() }
    }
}

impl<T> fmt::Debug for UnboundedSender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.sender.fmt(f)
    }
}

/// An [`UnboundedSender`] that does not keep the mailbox open.
pub struct WeakUnboundedSender<T> {
    sender: WeakSender<T>,
}

impl<T> WeakUnboundedSender<T> {
    /// A sender, if there is still one that keeps the mailbox open.
    pub fn upgrade(&self) -> Option<UnboundedSender<T>> {
        Some(UnboundedSender { sender: self.sender.upgrade()? })
    }

    /// How many senders keep the mailbox open.
    pub fn strong_count(&self) -> usize {
        self.sender.strong_count()
    }

    /// How many senders there are that do not.
    pub fn weak_count(&self) -> usize {
        self.sender.weak_count()
    }
}

impl<T> Clone for WeakUnboundedSender<T> {
    fn clone(&self) -> Self {
        WeakUnboundedSender { sender: self.sender.clone() }
    }
}

impl<T> fmt::Debug for WeakUnboundedSender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.sender.fmt(f)
    }
}
