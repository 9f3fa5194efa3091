//! Makes mailboxes.

use std::sync::Arc;

use tokio::sync::{Semaphore, mpsc};

use super::receiver::Receiver;
use super::sender::Sender;
use super::shared::Shared;
use super::size::{Size, shallow};
use dyntrace_processes::process::{self, Pid};
use dyntrace_processes::task::{self, JoinHandle};

/// Options of a mailbox. By default it has no bound, and a message's size is that of its type.
///
/// ```
/// # use dyntrace::mailbox::{Mailbox, Options};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let (address, task) = Options::new().bounded(1).spawn(async |mut mailbox: Mailbox<u8>| mailbox.recv().await);
/// address.try_send(1)?;
/// assert!(address.try_send(2).is_err());
/// assert_eq!(task.await?, Some(1));
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Options<T> {
    places: usize,
    words: fn(&T) -> usize,
}

impl<T> Options<T> {
    /// Returns the defaults.
    pub fn new() -> Self {
        Options { places: Semaphore::MAX_PERMITS, words: shallow }
    }

    /// Bounds the mailbox to `places` messages. Senders wait while it is full.
    pub fn bounded(self, places: usize) -> Self {
        Options { places, ..self }
    }

    /// Has each message report its own size.
    pub fn measured(self) -> Self
    where
        T: Size,
    {
        Options { words: T::words, ..self }
    }

    /// Makes the mailbox and returns both ends. The current process counts as the receiver until another one waits for a message.
    ///
    /// # Panics
    ///
    /// Panics if the bound is 0, as tokio's does.
    pub fn channel(self) -> (Sender<T>, Receiver<T>) {
        self.channel_of(process::current())
    }

    /// Starts a process with this mailbox, like [`dyntrace::spawn`](crate::spawn), and calls `body` in it.
    ///
    /// When `body` ends, even by a panic, the mailbox closes and its names are free.
    ///
    /// # Panics
    ///
    /// Panics if the bound is 0, or outside of a tokio runtime.
    #[track_caller]
    pub fn spawn<F, Fut>(self, body: F) -> (Sender<T>, JoinHandle<Fut::Output>)
    where
        T: Send + 'static,
        F: FnOnce(Receiver<T>) -> Fut + Send + 'static,
        Fut: Future + Send + 'static,
        Fut::Output: Send + 'static,
    {
        let pid = Pid::next();
        let (sender, receiver) = self.channel_of(pid);
        (sender, task::spawn_as(pid, async move { body(receiver).await }))
    }

    fn channel_of(self, owner: Pid) -> (Sender<T>, Receiver<T>) {
        let (sender, receiver) = mpsc::channel(self.places);
        let shared = Arc::new(Shared::new(sender.downgrade(), owner, self.words));
        (Sender::new(sender, shared.clone()), Receiver::new(receiver, shared))
    }
}

impl<T> Default for Options<T> {
    fn default() -> Self {
        Options::new()
    }
}

/// Makes a mailbox with room for `places` messages, as `tokio::sync::mpsc::channel` makes a channel.
///
/// # Panics
///
/// Panics if `places` is 0, as tokio's does.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let (sender, mut receiver) = dyntrace::mailbox::channel(16);
/// sender.send("hello").await?;
/// assert_eq!(receiver.recv().await, Some("hello"));
/// # Ok(())
/// # }
/// ```
pub fn channel<T>(places: usize) -> (Sender<T>, Receiver<T>) {
    Options::new().bounded(places).channel()
}

/// Starts a process with an unbounded mailbox. Returns its address, and the handle to wait for its end. See [`Options::spawn`].
///
/// # Panics
///
/// Panics outside of a tokio runtime.
#[track_caller]
pub fn spawn<T, F, Fut>(body: F) -> (Sender<T>, JoinHandle<Fut::Output>)
where
    T: Send + 'static,
    F: FnOnce(Receiver<T>) -> Fut + Send + 'static,
    Fut: Future + Send + 'static,
    Fut::Output: Send + 'static,
{
    Options::new().spawn(body)
}
