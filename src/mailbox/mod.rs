//! Mailboxes: messages between processes, each step of which a tracer can see.
//!
//! ```
//! use dyntrace::mailbox::{self, Mailbox};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let (pid, task) = mailbox::spawn(async |mut mailbox: Mailbox<u32>| {
//!     let mut sum = 0;
//!     while let Some(number) = mailbox.recv().await {
//!         sum += number;
//!     }
//!     sum
//! });
//! pid.send(40).await?; // message-send and message-queued; message-receive on the other side
//! pid.send(2).await?;
//! drop(pid);
//! assert_eq!(task.await?, 42);
//! # Ok(())
//! # }
//! ```
//!
//! [`spawn`] starts a process with a mailbox; [`Options`] says how large that is; [`register`] gives it a name. [`channel`]
//! has the shape of `tokio::sync::mpsc::channel`, and [`unbounded_channel`] that of its sibling, for programs that have their
//! channels already: every name of `tokio::sync::mpsc` is here. Under all of them is tokio's
//! channel, and its rules hold: who closes what, what a dropped end means, what cancelling loses (nothing).
//!
//! A receiver whose messages come from another thread within microseconds looks for the next one before it sleeps: for 3 us while
//! they go on coming so. It finds out by trials of 200 us, at first after 16 sleeps and in the end after 65,536. Meanwhile its thread
//! does nothing else. So two threads that answer each other wake nobody, and take two processors. A machine with one makes no trials.
//!
//! # What travels
//!
//! A message carries the sender's [sequential trace token](crate::seq_trace), and its user tag while that
//! [spreads](crate::spread_tag). Who takes the message out of the mailbox has both from then on: its own messages and its
//! file operations show them. Where there is neither, nothing is carried.
//!
//! # What tracers see
//!
//! | probe | fires |
//! |---|---|
//! | `message-send` | when the message has its place in the mailbox, on the sender's thread; so a sender that waits for one has not sent yet |
//! | `message-queued` | right after, just before the receiver can see the message; not where a process sends to itself |
//! | `message-receive` | when the message is taken out |
//!
//! The receiver is the process that the mailbox was made for, from its first wait on the one that waits at it.
//!
//! A task that [`tokio::spawn`] has started is no process: tracers see the thread that polls it. Between two such tasks of one thread
//! sender and receiver bear the same pid, and `message-queued` does not fire. [`dyntrace::spawn`](crate::spawn) gives a task its pid.
//!
//! Sizes are in machine words, rounded up: of the message itself, without what it points to; [`Options::measured`] asks
//! the message ([`Size`]). The length of the queue is that after the step. It counts messages that a selective receive has
//! passed over, and for senders also the places that others have [reserved](Sender::reserve) or are about to fill.

mod envelope;
pub mod error;
#[cfg(all(loom, test))]
mod models;
mod options;
mod patience;
mod permit;
mod receiver;
mod registry;
mod sender;
mod shared;
mod size;
mod unbounded;
mod weak;

pub use options::{Options, channel, spawn};
pub use permit::{OwnedPermit, Permit, PermitIterator};
pub use receiver::Receiver;
pub use registry::{register, unregister, whereis};
pub use sender::Sender;
pub use size::Size;
pub use unbounded::{UnboundedReceiver, UnboundedSender, WeakUnboundedSender, unbounded_channel};
pub use weak::WeakSender;

/// The mailbox of a process: where its messages come out.
pub type Mailbox<T> = Receiver<T>;

/// The address of a process that takes messages of type `T`: where they go in.
pub type Pid<T> = Sender<T>;
