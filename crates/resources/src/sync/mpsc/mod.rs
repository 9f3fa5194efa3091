//! Channels with one receiver, with the names and signatures of [`tokio::sync::mpsc`].
//!
//! `dyntrace::mailbox` has channels whose messages are seen, too, and carry tags and tokens.
//!
//! ```
//! use dyntrace::sync::mpsc;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), mpsc::error::SendError<u32>> {
//! let (sender, mut receiver) = mpsc::named_channel("orders", 1);
//! sender.send(17).await?;
//! assert_eq!(receiver.recv().await, Some(17));
//! # Ok(())
//! # }
//! ```

mod bounded;

mod unbounded;

pub use bounded::{OwnedPermit, Receiver, Sender, WeakSender, channel, named_channel};

pub use tokio::sync::mpsc::{Permit, PermitIterator, error};
pub use unbounded::{
    UnboundedReceiver, UnboundedSender, WeakUnboundedSender, named_unbounded_channel, unbounded_channel,
};

/// The methods of both receivers, bounded or not.
macro_rules! receiver {
    ($receiver:ident) => {
        impl<T> $receiver<T> {
            /// Receives a message, once there is one. `None` once the channel is closed and empty.
            ///
            /// # Cancellation
            ///
            /// Dropping the future loses no message.
            #[track_caller]
            pub fn recv(&mut self) -> impl Future<Output = Option<T>> {
                Waiting::new(On(&self.half, Operation::Recv), Location::caller(), self.inner.recv())
            }

            /// Receives up to `limit` messages, once there is one, and appends them to `buffer`. Returns how many: 0 once the channel is
            /// closed and empty, or if `limit` is 0.
            ///
            /// # Cancellation
            ///
            /// Dropping the future loses no message.
            #[track_caller]
            pub fn recv_many(&mut self, buffer: &mut Vec<T>, limit: usize) -> impl Future<Output = usize> {
                let receives = self.inner.recv_many(buffer, limit);
                Waiting::new(On(&self.half, Operation::Recv), Location::caller(), receives)
            }

            /// Receives a message if there is one.
            ///
            /// # Errors
            ///
            /// There is none; or the channel is closed, too.
            pub fn try_recv(&mut self) -> Result<T, TryRecvError> {
                self.inner.try_recv()
            }

            /// [`recv`](Self::recv) for use outside of asynchronous tasks: blocks the thread.
            ///
            /// # Panics
            ///
            /// Panics in an asynchronous task, as tokio's does.
            #[track_caller]
            pub fn blocking_recv(&mut self) -> Option<T> {
                block_outside_tasks(self.recv())
            }

            /// [`recv_many`](Self::recv_many) for use outside of asynchronous tasks: blocks the thread.
            ///
            /// # Panics
            ///
            /// Panics in an asynchronous task, as tokio's does.
            #[track_caller]
            pub fn blocking_recv_many(&mut self, buffer: &mut Vec<T>, limit: usize) -> usize {
                block_outside_tasks(self.recv_many(buffer, limit))
            }

            forward! { inner:
                /// Closes the channel: no message is sent any more. Those that were sent can still be received.
                fn close(&mut self);
                /// Whether the channel is closed.
                fn is_closed(&self) -> bool;
                /// Whether the channel has no messages.
                fn is_empty(&self) -> bool;
                /// Returns the number of messages in the channel.
                fn len(&self) -> usize;
                /// [`recv`](Self::recv), for futures written by hand. Fires no probes.
                fn poll_recv(&mut self, cx: &mut Context<'_>) -> Poll<Option<T>>;
                /// [`recv_many`](Self::recv_many), for futures written by hand. Fires no probes.
                fn poll_recv_many(&mut self, cx: &mut Context<'_>, buffer: &mut Vec<T>, limit: usize) -> Poll<usize>;
                /// Returns the number of senders, weak ones left out.
                fn sender_strong_count(&self) -> usize;
                /// Returns the number of weak senders.
                fn sender_weak_count(&self) -> usize;
            }
        }

        debug! { [T] $receiver<T>; }
    };
}

/// What senders have in common, bounded or not, and their weak forms.
macro_rules! sender {
    ($sender:ident, $weak:ident) => {
        impl<T> $sender<T> {
            /// Waits until the receiver is closed or dropped.
            #[track_caller]
            pub fn closed(&self) -> impl Future<Output = ()> {
                Waiting::new(On(&self.half, Operation::Closed), Location::caller(), self.inner.closed())
            }

            /// Whether the channel is closed.
            pub fn is_closed(&self) -> bool {
                self.inner.is_closed()
            }

            /// Whether both send to the same channel.
            pub fn same_channel(&self, other: &Self) -> bool {
                self.inner.same_channel(&other.inner)
            }

            /// Makes a weak sender, which does not keep the channel open.
            #[must_use = "the strong sender stays as it is"]
            pub fn downgrade(&self) -> $weak<T> {
                $weak { half: self.half.clone(), inner: self.inner.downgrade() }
            }

            forward! { inner:
                /// Returns the number of senders, weak ones left out.
                fn strong_count(&self) -> usize;
                /// Returns the number of weak senders.
                fn weak_count(&self) -> usize;
            }
        }

        impl<T> $weak<T> {
            /// Makes a sender. `None` if there is none any more: the channel is closed.
            pub fn upgrade(&self) -> Option<$sender<T>> {
                Some($sender { half: self.half.clone(), inner: self.inner.upgrade()? })
            }

            forward! { inner:
                /// Returns the number of senders, weak ones left out.
                fn strong_count(&self) -> usize;
                /// Returns the number of weak senders.
                fn weak_count(&self) -> usize;
            }
        }

        clone! { $sender, $weak }

        debug! { [T] $sender<T>; [T] $weak<T>; }
    };
}

use {receiver, sender};
