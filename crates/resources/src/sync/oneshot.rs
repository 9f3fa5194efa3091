//! Channels for one value, with the names and signatures of [`tokio::sync::oneshot`].
//!
//! ```
//! use dyntrace::sync::oneshot;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), oneshot::error::RecvError> {
//! let (sender, receiver) = oneshot::channel();
//! dyntrace::spawn(async move { sender.send(130) });
//! assert_eq!(receiver.await?, 130);
//! # Ok(())
//! # }
//! ```

use std::fmt;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll};

pub use tokio::sync::oneshot::error;
use tokio::sync::oneshot::error::{RecvError, TryRecvError};

use crate::inner::{debug, forward};
use dyntrace_processes::unpark::block_outside_tasks;
use dyntrace_processes::waiting::{Half, On, Operation, ResourceKind, Waiting};

/// Sends the value.
pub struct Sender<T> {
    half: Half,
    inner: tokio::sync::oneshot::Sender<T>,
}

/// Receives the value: a future. As the place of its wait tracers see the call of [`channel`].
///
/// If it is awaited by reference (`&mut receiver` in `select!`), its wait ends when it is ready or dropped, also while nobody polls it.
#[must_use = "it receives nothing before it is polled"]
pub struct Receiver<T> {
    waiting: Waiting<tokio::sync::oneshot::Receiver<T>, On<Half>>,
}

/// Creates a channel for one value.
#[track_caller]
pub fn channel<T>() -> (Sender<T>, Receiver<T>) {
    halves(None)
}

/// Creates a channel for one value, with a name for tracers.
#[track_caller]
pub fn named_channel<T>(name: &'static str) -> (Sender<T>, Receiver<T>) {
    halves(Some(name))
}

#[track_caller]
fn halves<T>(name: Option<&'static str>) -> (Sender<T>, Receiver<T>) {
    let half = Half::new(ResourceKind::Oneshot, name);
    let (sender, receiver) = tokio::sync::oneshot::channel();
    let on = On(half.clone(), Operation::OneshotRecv);
    (Sender { half, inner: sender }, Receiver { waiting: Waiting::new(on, Location::caller(), receiver) })
}

impl<T> Sender<T> {
    /// Sends the value.
    ///
    /// # Errors
    ///
    /// The receiver is closed or dropped: returns the value.
    pub fn send(self, t: T) -> Result<(), T> {
        self.inner.send(t)
    }

    /// Waits until the receiver is closed or dropped.
    #[track_caller]
    pub fn closed(&mut self) -> impl Future<Output = ()> {
        Waiting::new(On(&self.half, Operation::OneshotClosed), Location::caller(), self.inner.closed())
    }

    forward! { inner:
        /// Whether the receiver is closed or dropped.
        fn is_closed(&self) -> bool;
        /// [`closed`](Sender::closed), for futures written by hand. Fires no probes.
        fn poll_closed(&mut self, cx: &mut Context<'_>) -> Poll<()>;
    }
}

impl<T> Receiver<T> {
    /// Prevents that a value is sent. A value sent before can still be received.
    pub fn close(&mut self) {
        self.waiting.get_mut().close();
    }

    /// Whether the receiver has returned a value or an error.
    pub fn is_terminated(&self) -> bool {
        self.waiting.get_ref().is_terminated()
    }

    /// Whether there is no value to receive now.
    pub fn is_empty(&self) -> bool {
        self.waiting.get_ref().is_empty()
    }

    /// Returns the value if it was sent.
    ///
    /// # Errors
    ///
    /// It was not sent yet, or the sender was dropped.
    pub fn try_recv(&mut self) -> Result<T, TryRecvError> {
        self.waiting.get_mut().try_recv()
    }

    /// Receives the value outside of asynchronous tasks: blocks the thread.
    ///
    /// # Errors
    ///
    /// The sender was dropped.
    ///
    /// # Panics
    ///
    /// Panics in an asynchronous task, as tokio's does.
    #[track_caller]
    pub fn blocking_recv(self) -> Result<T, RecvError> {
        block_outside_tasks(self)
    }
}

impl<T> Future for Receiver<T> {
    type Output = Result<T, RecvError>;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.waiting).poll(cx)
    }
}

debug! { [T: fmt::Debug] Sender<T>; }

impl<T: fmt::Debug> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.waiting.get_ref().fmt(f)
    }
}
