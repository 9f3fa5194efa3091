//! Mailboxes without a bound, whose senders never wait, in the shape of tokio's unbounded channels.

use std::fmt;

use tokio::sync::mpsc::error::{SendError, TrySendError};

use super::options::Options;
use super::receiver::Receiver;
use super::sender::Sender;
use super::weak::WeakSender;

/// Makes a mailbox without a bound, as `tokio::sync::mpsc::unbounded_channel` makes a channel.
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

/// The receiving end of an unbounded mailbox.
pub type UnboundedReceiver<T> = Receiver<T>;

/// A [`Sender`] to an unbounded mailbox: it never waits. It has the methods of `tokio::sync::mpsc::UnboundedSender`.
pub struct UnboundedSender<T> {
    sender: Sender<T>,
}

impl<T> UnboundedSender<T> {
    /// Sends a message.
    ///
    /// # Errors
    ///
    /// Returns the message if the mailbox is closed: its process has ended, or has closed it.
    pub fn send(&self, message: T) -> Result<(), SendError<T>> {
        // There are more places than messages that fit into memory.
        self.sender
            .try_send(message)
            .map_err(|(TrySendError::Closed(message) | TrySendError::Full(message))| SendError(message))
    }

    /// Returns it as an address, for [`register`](super::register) and other functions that take one.
    pub fn address(&self) -> &Sender<T> {
        &self.sender
    }

    /// Waits until the mailbox is closed.
    #[track_caller]
    pub fn closed(&self) -> impl Future<Output = ()> {
        self.sender.closed()
    }

    /// Returns whether the mailbox is closed: its process has ended, or has closed it.
    pub fn is_closed(&self) -> bool {
        self.sender.is_closed()
    }

    /// Returns whether both send to the same mailbox.
    pub fn same_channel(&self, other: &Self) -> bool {
        self.sender.same_channel(&other.sender)
    }

    /// Returns a sender that does not keep the mailbox open.
    pub fn downgrade(&self) -> WeakUnboundedSender<T> {
        WeakUnboundedSender { sender: self.sender.downgrade() }
    }

    /// Returns the number of senders that keep the mailbox open.
    pub fn strong_count(&self) -> usize {
        self.sender.strong_count()
    }

    /// Returns the number of weak senders.
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
    /// Returns a sender, if there is still one that keeps the mailbox open.
    pub fn upgrade(&self) -> Option<UnboundedSender<T>> {
        Some(UnboundedSender { sender: self.sender.upgrade()? })
    }

    /// Returns the number of senders that keep the mailbox open.
    pub fn strong_count(&self) -> usize {
        self.sender.strong_count()
    }

    /// Returns the number of weak senders.
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
