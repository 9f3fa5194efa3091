//! The end where messages come out.

use std::collections::VecDeque;
use std::fmt;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TryRecvError;

use super::envelope::Envelope;
use super::registry;
use super::sender::{Sender, WeakSender};
use super::shared::Shared;

/// Receives the messages of one mailbox; the shape of `tokio::sync::mpsc::Receiver`, and a
/// [selective receive](Receiver::recv_matching).
///
/// The mailbox closes when this is dropped, or told to: then senders get an error. What is in it can still be received.
pub struct Receiver<T> {
    receiver: mpsc::Receiver<Envelope<T>>,
    /// Older than all in the channel, in order.
    passed_over: VecDeque<Envelope<T>>,
    shared: Arc<Shared<T>>,
    /// To give out senders, without keeping the mailbox open.
    sender: WeakSender<T>,
}

impl<T> Receiver<T> {
    pub(super) fn new(receiver: mpsc::Receiver<Envelope<T>>, shared: Arc<Shared<T>>, sender: WeakSender<T>) -> Self {
        Receiver { receiver, passed_over: VecDeque::new(), shared, sender }
    }

    /// Takes the next message out, and waits for one if there is none. `None` when the mailbox is closed, or has no senders
    /// any more, and is empty.
    ///
    /// Cancellation: no message is lost.
    pub async fn recv(&mut self) -> Option<T> {
        poll_fn(|context| self.poll_recv(context)).await
    }

    /// Takes the first message out that `matches`, and waits for one if there is none; the others stay in their order.
    /// `None` when there is none and none can come, see [`recv`](Receiver::recv); others may be there.
    ///
    /// A bounded mailbox has room for messages that were passed over and for as many as its bound says beside them, so that
    /// the one that is waited for can come.
    ///
    /// Cancellation, and a panic of `matches`: no message is lost.
    ///
    /// ```
    /// # use dyntrace::mailbox;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let (sender, mut mailbox) = mailbox::channel(4);
    /// for number in [1, 2, 3] {
    ///     sender.send(number).await?;
    /// }
    /// assert_eq!(mailbox.recv_matching(|number| *number == 2).await, Some(2));
    /// assert_eq!((mailbox.recv().await, mailbox.recv().await), (Some(1), Some(3)));
    /// # Ok(())
    /// # }
    /// ```
    pub async fn recv_matching(&mut self, mut matches: impl FnMut(&T) -> bool) -> Option<T> {
        if let Some(at) = self.passed_over.iter().position(|envelope| matches(&envelope.message)) {
            let envelope = self.passed_over.remove(at)?;
            self.shared.set_passed_over(self.passed_over.len());
            return Some(self.open(envelope));
        }
        loop {
            let envelope = poll_fn(|context| self.poll_channel(context)).await?;
            // There before it is looked at: `matches` may panic.
            self.passed_over.push_back(envelope);
            if self.passed_over.back().is_some_and(|envelope| matches(&envelope.message)) {
                return self.passed_over.pop_back().map(|envelope| self.open(envelope));
            }
            self.shared.set_passed_over(self.passed_over.len());
        }
    }

    /// Takes up to `limit` messages out, appends them to `buffer` and returns how many; waits only if there is none. 0 as
    /// `None` of [`recv`](Receiver::recv), or if `limit` is 0.
    ///
    /// Cancellation: no message is lost.
    pub async fn recv_many(&mut self, buffer: &mut Vec<T>, limit: usize) -> usize {
        if limit == 0 {
            return 0;
        }
        let Some(first) = self.recv().await else { return 0 };
        buffer.push(first);
        let mut count = 1;
        while count < limit
            && let Ok(message) = self.try_recv()
        {
            buffer.push(message);
            count += 1;
        }
        count
    }

    /// Takes the next message out if there is one.
    ///
    /// # Errors
    ///
    /// If there is none now, or none can come any more.
    pub fn try_recv(&mut self) -> Result<T, TryRecvError> {
        let envelope = match self.take_passed_over() {
            Some(envelope) => envelope,
            None => self.receiver.try_recv()?,
        };
        Ok(self.open(envelope))
    }

    /// [`recv`](Receiver::recv) for a thread that is no task's.
    ///
    /// # Panics
    ///
    /// In an asynchronous task, as tokio's does.
    pub fn blocking_recv(&mut self) -> Option<T> {
        let envelope = match self.take_passed_over() {
            Some(envelope) => envelope,
            None => {
                self.shared.adopt();
                self.receiver.blocking_recv()?
            }
        };
        Some(self.open(envelope))
    }

    /// [`recv`](Receiver::recv), for futures written by hand.
    pub fn poll_recv(&mut self, context: &mut Context<'_>) -> Poll<Option<T>> {
        if let Some(envelope) = self.take_passed_over() {
            return Poll::Ready(Some(self.open(envelope)));
        }
        match self.poll_channel(context) {
            Poll::Ready(Some(envelope)) => Poll::Ready(Some(self.open(envelope))),
            Poll::Ready(None) => Poll::Ready(None),
            Poll::Pending => Poll::Pending,
        }
    }

    /// Lets nobody send any more. What was sent before can be received, as can what those send who have a
    /// [`Permit`](super::Permit).
    pub fn close(&mut self) {
        self.receiver.close();
    }

    /// Whether nothing can come any more.
    pub fn is_closed(&self) -> bool {
        self.receiver.is_closed()
    }

    /// Whether there is no message.
    pub fn is_empty(&self) -> bool {
        self.passed_over.is_empty() && self.receiver.is_empty()
    }

    /// How many messages there are.
    pub fn len(&self) -> usize {
        self.passed_over.len() + self.receiver.len()
    }

    /// How many places are free now.
    pub fn capacity(&self) -> usize {
        self.receiver.capacity()
    }

    /// How many places there are.
    pub fn max_capacity(&self) -> usize {
        self.receiver.max_capacity()
    }

    /// How many senders keep the mailbox open.
    pub fn sender_strong_count(&self) -> usize {
        self.receiver.sender_strong_count()
    }

    /// How many [weak](WeakSender) senders others have.
    pub fn sender_weak_count(&self) -> usize {
        // But for the one in here.
        self.receiver.sender_weak_count() - 1
    }

    /// A sender to this mailbox, to give to others. `None` when there is none any more that keeps it open.
    pub fn pid(&self) -> Option<Sender<T>> {
        self.sender.upgrade()
    }

    #[inline]
    fn poll_channel(&mut self, context: &mut Context<'_>) -> Poll<Option<Envelope<T>>> {
        let polled = self.receiver.poll_recv(context);
        if polled.is_pending() {
            self.shared.adopt();
        }
        polled
    }

    #[inline]
    fn take_passed_over(&mut self) -> Option<Envelope<T>> {
        if self.passed_over.is_empty() {
            return None;
        }
        let envelope = self.passed_over.pop_front()?;
        self.shared.set_passed_over(self.passed_over.len());
        Some(envelope)
    }

    /// Here a message is received.
    #[inline]
    fn open(&mut self, envelope: Envelope<T>) -> T {
        self.shared.tell_received(&envelope, || self.len());
        let Envelope { message, carried } = envelope;
        carried.on_receive();
        message
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        // Before its names are free, so that nobody gives it another one.
        self.receiver.close();
        registry::free(Arc::as_ptr(&self.shared).addr());
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver").field("pid", &self.shared.owner()).field("len", &self.len()).finish()
    }
}
