//! Reserved places in a mailbox.

use std::fmt;
use std::iter::FusedIterator;
use std::sync::Arc;

use tokio::sync::mpsc;

use super::envelope::Envelope;
use super::sender::Sender;
use super::shared::Shared;

/// A reserved place in a mailbox, for one message. Dropping it frees the place.
pub struct Permit<'a, T> {
    pub(super) permit: mpsc::Permit<'a, Envelope<T>>,
    pub(super) sender: &'a Sender<T>,
}

impl<T> Permit<'_, T> {
    /// Sends the message. It is received even if the mailbox has been closed since.
    pub fn send(self, message: T) {
        self.send_inlined(message);
    }

    /// For [`Sender::try_send`]: a call would copy the message once more.
    #[inline(always)]
    pub(super) fn send_inlined(self, message: T) {
        // Its place is taken already.
        self.permit.send(self.sender.seal(message));
    }
}

impl<T> fmt::Debug for Permit<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Permit").field(&self.sender.id()).finish()
    }
}

/// Several reserved places in a mailbox. Dropping it frees those that are left.
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

/// A [`Permit`] that owns its sender.
pub struct OwnedPermit<T> {
    permit: mpsc::OwnedPermit<Envelope<T>>,
    shared: Arc<Shared<T>>,
}

impl<T> OwnedPermit<T> {
    pub(super) fn new(permit: mpsc::OwnedPermit<Envelope<T>>, shared: Arc<Shared<T>>) -> OwnedPermit<T> {
        OwnedPermit { permit, shared }
    }

    /// Sends the message and returns the sender. The message is received even if the mailbox has been closed since.
    pub fn send(self, message: T) -> Sender<T> {
        let OwnedPermit { permit, shared } = self;
        // The permit owns the sender and does not lend it.
        let queue_len = || shared.sender.upgrade().map_or(0, |sender| shared.queue_len(&sender));
        let envelope = shared.seal(message, queue_len);
        Sender::new(permit.send(envelope), shared)
    }

    /// Frees the place and returns the sender.
    pub fn release(self) -> Sender<T> {
        Sender::new(self.permit.release(), self.shared)
    }

    /// Returns whether both are for the same mailbox.
    pub fn same_channel(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }

    /// Returns whether `sender` sends to the same mailbox.
    pub fn same_channel_as_sender(&self, sender: &Sender<T>) -> bool {
        sender.is_of(&self.shared)
    }
}

impl<T> fmt::Debug for OwnedPermit<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("OwnedPermit").field(&self.shared.owner()).finish()
    }
}
