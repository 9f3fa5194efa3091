//! The receiving end of a mailbox.

use std::collections::VecDeque;
use std::fmt;
use std::future::poll_fn;
use std::iter;
use std::panic::Location;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};

use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TryRecvError;

use super::envelope::Envelope;
use super::patience::Patience;
use super::registry;
use super::sender::Sender;
use super::shared::{OWN, Shared};
use dyntrace_processes::unpark::block_outside_tasks;
use dyntrace_processes::waiting::{OwnMailbox, Waiting};

/// Receives the messages of one mailbox. It has the methods of `tokio::sync::mpsc::Receiver`, and a
/// [selective receive](Receiver::recv_matching).
///
/// The mailbox closes when this is dropped, or by [`close`](Receiver::close): then senders get an error. Messages that are in a
/// closed mailbox can still be received.
pub struct Receiver<T> {
    receiver: mpsc::Receiver<Envelope<T>>,
    /// Messages that a selective receive has skipped, in order; older than all in the channel. Never locked: the `Mutex` makes the
    /// receiver `Sync` if messages are `Send`, as tokio's is.
    passed_over: Mutex<VecDeque<Envelope<T>>>,
    patience: Patience,
    shared: Arc<Shared<T>>,
}

impl<T> Receiver<T> {
    pub(super) fn new(receiver: mpsc::Receiver<Envelope<T>>, shared: Arc<Shared<T>>) -> Self {
        Receiver { receiver, passed_over: Mutex::default(), patience: Patience::new(), shared }
    }

    /// Receives the next message. Waits for one if there is none. Returns `None` if the mailbox is empty, and closed or without
    /// senders.
    ///
    /// Cancellation loses no message.
    #[track_caller]
    pub fn recv(&mut self) -> impl Future<Output = Option<T>> {
        Waiting::new(OwnMailbox::new(RECV), Location::caller(), Receives(self))
    }

    /// Receives the first message that `matches`. Waits for one if there is none. The others keep their order. Returns `None` if
    /// no message matches and none can come, see [`recv`](Receiver::recv).
    ///
    /// Skipped messages do not count towards the bound of a mailbox, so that the matching one can come.
    ///
    /// Neither cancellation nor a panic of `matches` loses a message.
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
    #[track_caller]
    pub fn recv_matching(&mut self, matches: impl FnMut(&T) -> bool) -> impl Future<Output = Option<T>> {
        self.recv_matching_at(Location::caller(), matches)
    }

    async fn recv_matching_at(
        &mut self,
        place: &'static Location<'static>,
        mut matches: impl FnMut(&T) -> bool,
    ) -> Option<T> {
        let at = self.passed_over().iter().position(|envelope| matches(&envelope.message));
        if let Some(at) = at {
            return self.take(|passed_over| passed_over.remove(at));
        }
        loop {
            let envelope = waits(place, |context| self.poll_channel(context)).await?;
            // Kept before `matches` sees it, which may panic.
            let passed_over = self.passed_over();
            passed_over.push_back(envelope);
            let count = passed_over.len();
            self.shared.set_passed_over(count);
            if self.passed_over().back().is_some_and(|envelope| matches(&envelope.message)) {
                return self.take(VecDeque::pop_back);
            }
        }
    }

    /// Receives up to `limit` messages, appends them to `buffer` and returns their number. Waits only if there is none. Returns 0
    /// if `limit` is 0, and where [`recv`](Receiver::recv) returns `None`.
    ///
    /// Cancellation loses no message.
    #[track_caller]
    pub fn recv_many(&mut self, buffer: &mut Vec<T>, limit: usize) -> impl Future<Output = usize> {
        waits(Location::caller(), move |context| self.poll_recv_many(context, buffer, limit))
    }

    /// Receives the next message if there is one.
    ///
    /// # Errors
    ///
    /// Fails if there is none now, or none can come any more.
    pub fn try_recv(&mut self) -> Result<T, TryRecvError> {
        if let Some(message) = self.take_first() {
            return Ok(message);
        }
        let envelope = self.receiver.try_recv()?;
        Ok(self.open(envelope))
    }

    /// [`recv`](Receiver::recv) for use outside of asynchronous tasks: blocks the thread.
    ///
    /// # Panics
    ///
    /// Panics in an asynchronous task, as tokio's does.
    #[track_caller]
    pub fn blocking_recv(&mut self) -> Option<T> {
        block_outside_tasks(self.recv())
    }

    /// [`recv_many`](Receiver::recv_many) for use outside of asynchronous tasks: blocks the thread.
    ///
    /// # Panics
    ///
    /// Panics in an asynchronous task, as tokio's does.
    #[track_caller]
    pub fn blocking_recv_many(&mut self, buffer: &mut Vec<T>, limit: usize) -> usize {
        block_outside_tasks(self.recv_many(buffer, limit))
    }

    /// [`recv`](Receiver::recv), for futures written by hand. Fires no probes of a wait.
    #[inline(always)]
    pub fn poll_recv(&mut self, context: &mut Context<'_>) -> Poll<Option<T>> {
        if let Some(message) = self.take_first() {
            return Poll::Ready(Some(message));
        }
        self.look();
        match self.receiver.poll_recv(context) {
            Poll::Ready(Some(envelope)) => Poll::Ready(Some(self.open(envelope))),
            Poll::Ready(None) => Poll::Ready(None),
            Poll::Pending => {
                self.sleeps();
                Poll::Pending
            }
        }
    }

    /// [`recv_many`](Receiver::recv_many), for futures written by hand. Fires no probes of a wait.
    pub fn poll_recv_many(&mut self, context: &mut Context<'_>, buffer: &mut Vec<T>, limit: usize) -> Poll<usize> {
        if limit == 0 {
            return Poll::Ready(0);
        }
        let Some(first) = ready!(self.poll_recv(context)) else { return Poll::Ready(0) };
        let more = limit - 1;
        self.skip(context, more);
        let before = buffer.len();
        buffer.push(first);
        buffer.extend(iter::from_fn(|| self.take_first()).take(more));
        Poll::Ready(buffer.len() - before)
    }

    /// Moves messages that are there now to the skipped ones, until these are `wanted` or more.
    fn skip(&mut self, context: &mut Context<'_>, wanted: usize) {
        let there = self.passed_over().len();
        if there >= wanted || self.receiver.is_empty() {
            return;
        }
        let mut envelopes = Vec::new();
        // Not `try_recv`: it blocks the thread while a sender that has its place has not written its message yet.
        let _ = self.receiver.poll_recv_many(context, &mut envelopes, wanted - there);
        let passed_over = self.passed_over();
        passed_over.extend(envelopes);
        let count = passed_over.len();
        self.shared.set_passed_over(count);
    }

    /// Closes the mailbox: senders get an error, except those that hold a [`Permit`](super::Permit). Messages that were sent before
    /// can still be received.
    pub fn close(&mut self) {
        self.receiver.close();
    }

    /// Returns whether the mailbox is closed: no more messages can be sent.
    pub fn is_closed(&self) -> bool {
        self.receiver.is_closed()
    }

    /// Returns whether there is no message.
    pub fn is_empty(&self) -> bool {
        self.shared.passed_over() == 0 && self.receiver.is_empty()
    }

    /// Returns the number of messages.
    pub fn len(&self) -> usize {
        self.shared.passed_over() + self.receiver.len()
    }

    /// Returns the number of free places.
    pub fn capacity(&self) -> usize {
        self.receiver.capacity()
    }

    /// Returns the number of places, free or not.
    pub fn max_capacity(&self) -> usize {
        self.receiver.max_capacity()
    }

    /// Returns the number of senders that keep the mailbox open.
    pub fn sender_strong_count(&self) -> usize {
        self.receiver.sender_strong_count()
    }

    /// Returns the number of [weak](super::WeakSender) senders.
    pub fn sender_weak_count(&self) -> usize {
        self.receiver.sender_weak_count() - OWN
    }

    /// Returns the address of this mailbox, for others. `None` if no sender keeps the mailbox open any more.
    pub fn address(&self) -> Option<Sender<T>> {
        Some(Sender::new(self.shared.sender.upgrade()?, self.shared.clone()))
    }

    /// Receives a message from the channel, in its envelope.
    fn poll_channel(&mut self, context: &mut Context<'_>) -> Poll<Option<Envelope<T>>> {
        self.look();
        let polled = self.receiver.poll_recv(context);
        if polled.is_pending() {
            self.sleeps();
        }
        polled
    }

    /// Polls for a message if that pays, before the channel has the waker: senders do not wake a thread that polls.
    #[inline(always)]
    fn look(&mut self) {
        if self.patience.is_due() {
            match self.receiver.is_empty() {
                true => self.patience.look(&self.shared.source, || !self.receiver.is_empty()),
                false => self.patience.finds(),
            }
        }
    }

    fn sleeps(&mut self) {
        self.patience.sleeps();
        self.shared.adopt();
    }

    fn passed_over(&mut self) -> &mut VecDeque<Envelope<T>> {
        self.passed_over.get_mut().unwrap_or_else(PoisonError::into_inner)
    }

    /// Receives the first of the skipped messages.
    #[inline]
    fn take_first(&mut self) -> Option<T> {
        if self.passed_over().is_empty() { None } else { self.take(VecDeque::pop_front) }
    }

    /// Receives one of the skipped messages.
    fn take(&mut self, one: impl FnOnce(&mut VecDeque<Envelope<T>>) -> Option<Envelope<T>>) -> Option<T> {
        let passed_over = self.passed_over();
        let envelope = one(passed_over)?;
        let count = passed_over.len();
        self.shared.set_passed_over(count);
        Some(self.open(envelope))
    }

    /// Opens the envelope: fires `message-receive`, and gives the process the token and the tag.
    #[inline(always)]
    fn open(&mut self, envelope: Envelope<T>) -> T {
        if Shared::<T>::tells_received() { self.open_seen(envelope) } else { envelope.opened() }
    }

    /// Apart from the rest, so that a message that nobody sees is not copied for it.
    #[cold]
    #[inline(never)]
    fn open_seen(&mut self, envelope: Envelope<T>) -> T {
        self.shared.fire_received(&envelope, self.len());
        envelope.opened()
    }
}

/// A future that waits for a message.
fn waits<R>(
    place: &'static Location<'static>,
    poll: impl FnMut(&mut Context<'_>) -> Poll<R>,
) -> impl Future<Output = R> {
    Waiting::new(OwnMailbox::new(RECV), place, poll_fn(poll))
}

/// The operation of a wait for a message.
const RECV: &str = "mailbox::Receiver::recv";

/// The future of [`Receiver::recv`]. Always inlined, unlike a closure: a message that is copied together with the `Poll` and the `Option`
/// around it, right after they have been written one by one, has to wait until they are in the cache.
struct Receives<'r, T>(&'r mut Receiver<T>);

impl<T> Future for Receives<'_, T> {
    type Output = Option<T>;

    #[inline(always)]
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<T>> {
        self.0.poll_recv(context)
    }
}

/// No message is pinned in it, as in tokio's.
impl<T> Unpin for Receiver<T> {}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        // Freed after it is closed, so that it gets no other name; also if the waker of a sender panics in `close`.
        let _names = registry::NamesOf(Arc::as_ptr(&self.shared).addr());
        self.receiver.close();
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver").field("pid", &self.shared.owner()).field("len", &self.len()).finish()
    }
}
