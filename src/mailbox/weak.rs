//! Senders that do not keep a mailbox open.

use std::fmt;
use std::sync::Arc;

use tokio::sync::mpsc;

use super::envelope::Envelope;
use super::sender::Sender;
use super::shared::{OWN, Shared};

/// A [`Sender`] that does not keep the mailbox open.
pub struct WeakSender<T> {
    sender: mpsc::WeakSender<Envelope<T>>,
    shared: Arc<Shared<T>>,
}

impl<T> Sender<T> {
    /// Returns a sender that does not keep the mailbox open.
    pub fn downgrade(&self) -> WeakSender<T> {
        WeakSender { sender: self.sender.downgrade(), shared: self.shared.clone() }
    }
}

impl<T> WeakSender<T> {
    /// Returns a sender, if there is still one that keeps the mailbox open.
    pub fn upgrade(&self) -> Option<Sender<T>> {
        Some(Sender::new(self.sender.upgrade()?, self.shared.clone()))
    }

    /// Returns the number of senders that keep the mailbox open.
    pub fn strong_count(&self) -> usize {
        self.sender.strong_count()
    }

    /// Returns the number of weak senders.
    pub fn weak_count(&self) -> usize {
        self.sender.weak_count() - OWN
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
