//! Channels without a bound.

use std::panic::Location;
use std::task::{Context, Poll};

use tokio::sync::mpsc;
use tokio::sync::mpsc::error::{SendError, TryRecvError};

use super::super::half::clone;
use super::{receiver, sender};
use crate::inner::{debug, forward};
use dyntrace_processes::unpark::block_outside_tasks;
use dyntrace_processes::waiting::{Half, On, Operation, ResourceKind, Waiting};

/// Sends messages to an [`UnboundedReceiver`].
pub struct UnboundedSender<T> {
    half: Half,
    inner: mpsc::UnboundedSender<T>,
}

/// An [`UnboundedSender`] that does not keep the channel open.
pub struct WeakUnboundedSender<T> {
    half: Half,
    inner: mpsc::WeakUnboundedSender<T>,
}

/// Receives the messages of [`UnboundedSender`]s.
pub struct UnboundedReceiver<T> {
    half: Half,
    inner: mpsc::UnboundedReceiver<T>,
}

/// Creates a channel without a bound: there is no backpressure, its queue grows.
#[track_caller]
pub fn unbounded_channel<T>() -> (UnboundedSender<T>, UnboundedReceiver<T>) {
    halves(None)
}

/// Creates an [`unbounded_channel`] with a name for tracers.
#[track_caller]
pub fn named_unbounded_channel<T>(name: &'static str) -> (UnboundedSender<T>, UnboundedReceiver<T>) {
    halves(Some(name))
}

#[track_caller]
fn halves<T>(name: Option<&'static str>) -> (UnboundedSender<T>, UnboundedReceiver<T>) {
    let (sender, receiver) = mpsc::unbounded_channel();
    let half = Half::new(ResourceKind::Mpsc, name);
    (UnboundedSender { half: half.clone(), inner: sender }, UnboundedReceiver { half, inner: receiver })
}

receiver!(UnboundedReceiver);
sender!(UnboundedSender, WeakUnboundedSender);

impl<T> UnboundedSender<T> {
    /// Sends a message. Never waits.
    ///
    /// # Errors
    ///
    /// The channel is closed: returns the message.
    pub fn send(&self, message: T) -> Result<(), SendError<T>> {
        self.inner.send(message)
    }
}
