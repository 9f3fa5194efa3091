//! The end where messages come out.

use std::collections::VecDeque;
use std::fmt;
use std::future::poll_fn;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TryRecvError;

use super::envelope::Envelope;
use super::patience::Patience;
use super::registry;
use super::sender::Sender;
use super::shared::{OWN, Shared};

/// Receives the messages of one mailbox; the shape of `tokio::sync::mpsc::Receiver`, and a
/// [selective receive](Receiver::recv_matching).
///
/// The mailbox closes when this is dropped, or told to: then senders get an error. What is in it can still be received.
pub struct Receiver<T> {
    receiver: mpsc::Receiver<Envelope<T>>,
    /// Older than all in the channel, in order. Never locked: a `Mutex` so that a receiver is `Sync` for all messages that are
    /// `Send`, as tokio's is.
    passed_over: Mutex<VecDeque<Envelope<T>>>,
    patience: Patience,
    shared: Arc<Shared<T>>,
}

impl<T> Receiver<T> {
    pub(super) fn new(receiver: mpsc::Receiver<Envelope<T>>, shared: Arc<Shared<T>>) -> Self {
        Receiver { receiver, passed_over: Mutex::default(), patience: Patience::new(), shared }
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
        let at = self.passed_over().iter().position(|envelope| matches(&envelope.message));
        if let Some(at) = at {
            return self.take(|passed_over| passed_over.remove(at));
        }
        loop {
            let envelope = poll_fn(|context| self.poll_channel(context)).await?;
            // There before it is looked at: `matches` may panic.
            let passed_over = self.passed_over();
            passed_over.push_back(envelope);
            let count = passed_over.len();
            self.shared.set_passed_over(count);
            if self.passed_over().back().is_some_and(|envelope| matches(&envelope.message)) {
                return self.take(VecDeque::pop_back);
            }
        }
    }

    /// Takes up to `limit` messages out, appends them to `buffer` and returns how many; waits only if there is none. 0 as
    /// `None` of [`recv`](Receiver::recv), or if `limit` is 0.
    ///
    /// Cancellation: no message is lost.
    pub async fn recv_many(&mut self, buffer: &mut Vec<T>, limit: usize) -> usize {
        poll_fn(|context| self.poll_recv_many(context, buffer, limit)).await
    }

    /// Takes the next message out if there is one.
    ///
    /// # Errors
    ///
    /// If there is none now, or none can come any more.
    pub fn try_recv(&mut self) -> Result<T, TryRecvError> {
        if let Some(message) = self.take_first() {
            return Ok(message);
        }
        let envelope = self.receiver.try_recv()?;
        Ok(self.open(envelope))
    }

    /// [`recv`](Receiver::recv) for a thread that is no task's.
    ///
    /// # Panics
    ///
    /// In an asynchronous task, as tokio's does.
    pub fn blocking_recv(&mut self) -> Option<T> {
        if let Some(message) = self.take_first() {
            return Some(message);
        }
        self.shared.adopt();
        let envelope = self.receiver.blocking_recv()?;
        Some(self.open(envelope))
    }

    /// [`recv_many`](Receiver::recv_many) for a thread that is no task's.
    ///
    /// # Panics
    ///
    /// In an asynchronous task, as tokio's does.
    pub fn blocking_recv_many(&mut self, buffer: &mut Vec<T>, limit: usize) -> usize {
        let first = if limit == 0 { None } else { self.blocking_recv() };
        first.map_or(0, |first| self.gather(first, buffer, limit))
    }

    /// [`recv`](Receiver::recv), for futures written by hand.
    pub fn poll_recv(&mut self, context: &mut Context<'_>) -> Poll<Option<T>> {
        if let Some(message) = self.take_first() {
            return Poll::Ready(Some(message));
        }
        match self.poll_channel(context) {
            Poll::Ready(Some(envelope)) => Poll::Ready(Some(self.open(envelope))),
            Poll::Ready(None) => Poll::Ready(None),
            Poll::Pending => Poll::Pending,
        }
    }

    /// [`recv_many`](Receiver::recv_many), for futures written by hand.
    pub fn poll_recv_many(&mut self, context: &mut Context<'_>, buffer: &mut Vec<T>, limit: usize) -> Poll<usize> {
        if limit == 0 {
            return Poll::Ready(0);
        }
        self.poll_recv(context).map(|first| first.map_or(0, |first| self.gather(first, buffer, limit)))
    }

    /// Appends `first` and what is there now, up to `limit`, and returns how many these are.
    fn gather(&mut self, first: T, buffer: &mut Vec<T>, limit: usize) -> usize {
        let before = buffer.len();
        buffer.push(first);
        while buffer.len() - before < limit
            && let Ok(message) = self.try_recv()
        {
            buffer.push(message);
        }
        buffer.len() - before
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
        self.shared.passed_over() == 0 && self.receiver.is_empty()
    }

    /// How many messages there are.
    pub fn len(&self) -> usize {
        self.shared.passed_over() + self.receiver.len()
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

    /// How many [weak](super::WeakSender) senders there are.
    pub fn sender_weak_count(&self) -> usize {
        self.receiver.sender_weak_count() - OWN
    }

    /// A sender to this mailbox, to give to others. `None` when there is none any more that keeps it open.
    pub fn pid(&self) -> Option<Sender<T>> {
        Some(Sender::new(self.shared.sender.upgrade()?, self.shared.clone()))
    }

    #[inline]
    fn poll_channel(&mut self, context: &mut Context<'_>) -> Poll<Option<Envelope<T>>> {
        if self.patience.is_due() && self.receiver.is_empty() {
            // Before the waker is known: a sender need not wake this thread while it looks.
            self.patience.look(&self.shared.source, || !self.receiver.is_empty());
        }
        let polled = self.receiver.poll_recv(context);
        if polled.is_pending() {
            self.patience.sleeps();
            self.shared.adopt();
        }
        polled
    }

    fn passed_over(&mut self) -> &mut VecDeque<Envelope<T>> {
        self.passed_over.get_mut().unwrap_or_else(PoisonError::into_inner)
    }

    /// Receives the first of the messages that were passed over.
    #[inline]
    fn take_first(&mut self) -> Option<T> {
        if self.passed_over().is_empty() { None } else { self.take(VecDeque::pop_front) }
    }

    /// Receives one of them.
    fn take(&mut self, one: impl FnOnce(&mut VecDeque<Envelope<T>>) -> Option<Envelope<T>>) -> Option<T> {
        let passed_over = self.passed_over();
        let envelope = one(passed_over)?;
        let count = passed_over.len();
        self.shared.set_passed_over(count);
        Some(self.open(envelope))
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

/// It moves no message in place, as tokio's does not.
impl<T> Unpin for Receiver<T> {}

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
