//! Places in a mailbox that are kept for messages to come.

use std::fmt;
use std::iter::FusedIterator;
use std::sync::Arc;

use tokio::sync::mpsc;

use super::envelope::Envelope;
use super::sender::Sender;
use super::shared::Shared;

/// A place in a mailbox, for one message. Dropped, it is free for others.
pub struct Permit<'a, T> {
    pub(super) permit: mpsc::Permit<'a, Envelope<T>>,
    pub(super) sender: &'a Sender<T>,
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

/// Several places in a mailbox, one after the other. Those that are left when this is dropped are free for others.
pub struct PermitIterator<'a, T> {
    pub(super) permits: mpsc::PermitIterator<'a, Envelope<T>>,
    pub(super) sender: &'a Sender<T>,
}

impl<'a, T> Iterator for PermitIterator<'a, T> {
    type Item = Permit<'a, T>;

    fn next(&mut self) -> Option<Permit<'a, T>> {
        Some(Permit { permit: self.permits.next()?, sender: self.sender })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.permits.size_hint()
    }
}

impl<T> ExactSizeIterator for PermitIterator<'_, T> {}

impl<T> FusedIterator for PermitIterator<'_, T> {}

impl<T> fmt::Debug for PermitIterator<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PermitIterator").field("pid", &self.sender.id()).field("len", &self.len()).finish()
    }
}

/// A [`Permit`] that has its sender in it.
pub struct OwnedPermit<T> {
    permit: mpsc::OwnedPermit<Envelope<T>>,
    shared: Arc<Shared<T>>,
}

impl<T> OwnedPermit<T> {
    pub(super) fn new(permit: mpsc::OwnedPermit<Envelope<T>>, shared: Arc<Shared<T>>) -> OwnedPermit<T> {
        OwnedPermit { permit, shared }
    }

    /// Sends the message, and gives the sender back. If the mailbox was closed since, it is still received.
    pub fn send(self, message: T) -> Sender<T> {
        let OwnedPermit { permit, shared } = self;
        // The sender is in the permit, where nobody can ask it.
        let queue_len = || shared.sender.upgrade().map_or(0, |sender| shared.queue_len(&sender));
        let envelope = shared.seal(message, queue_len);
        Sender::new(permit.send(envelope), shared)
    }

    /// Gives the place back, and the sender.
    pub fn release(self) -> Sender<T> {
        Sender::new(self.permit.release(), self.shared)
    }

    /// Whether both are for the same mailbox.
    pub fn same_channel(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }

    /// Whether it is for the mailbox that `sender` sends to.
    pub fn same_channel_as_sender(&self, sender: &Sender<T>) -> bool {
        sender.is_of(&self.shared)
    }
}

impl<T> fmt::Debug for OwnedPermit<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("OwnedPermit").field(&self.shared.owner()).finish()
    }
}
