//! The making of mailboxes.

use std::sync::Arc;

use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinHandle;

use super::receiver::Receiver;
use super::sender::Sender;
use super::shared::Shared;
use super::size::{Size, shallow};
use crate::process::{self, Pid};

/// How a mailbox is to be: without a bound, and with messages that are as large as their type says, unless told otherwise.
///
/// ```
/// # use dyntrace::mailbox::{Mailbox, Options};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let (pid, task) = Options::new().bounded(1).spawn(async |mut mailbox: Mailbox<u8>| mailbox.recv().await);
/// pid.try_send(1)?;
/// assert!(pid.try_send(2).is_err());
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
    /// Without a bound.
    pub fn new() -> Self {
        Options { places: Semaphore::MAX_PERMITS, words: shallow }
    }

    /// Room for so many messages; who sends more waits.
    pub fn bounded(self, places: usize) -> Self {
        Options { places, ..self }
    }

    /// Messages say themselves how large they are.
    pub fn measured(self) -> Self
    where
        T: Size,
    {
        Options { words: T::words, ..self }
    }

    /// Both ends of such a mailbox. The process that receives is the current one, until another one waits at it.
    ///
    /// # Panics
    ///
    /// If there is room for no message, as tokio's does.
    pub fn channel(self) -> (Sender<T>, Receiver<T>) {
        self.channel_of(process::current())
    }

    /// Starts a process with such a mailbox, as [`dyntrace::spawn`](crate::spawn) starts one without. `body` is called in it.
    ///
    /// When `body` has ended, however it ends, the mailbox is closed and its names are free.
    ///
    /// # Panics
    ///
    /// If there is room for no message; outside of a tokio runtime.
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
        (sender, process::spawn_as(pid, async move { body(receiver).await }))
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

/// A mailbox with room for so many messages; the shape of `tokio::sync::mpsc::channel`.
///
/// # Panics
///
/// If `places` is 0, as tokio's does.
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

/// Starts a process with a mailbox that has no bound: its address, and the handle to wait for its end.
/// See [`Options::spawn`].
///
/// # Panics
///
/// Outside of a tokio runtime.
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
