//! Mailboxes: messages between processes, each step of which a tracer can see.
//!
//! ```
//! use dyntrace::mailbox::{self, Mailbox};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let (address, task) = mailbox::spawn(async |mut mailbox: Mailbox<u32>| {
//!     let mut sum = 0;
//!     while let Some(number) = mailbox.recv().await {
//!         sum += number;
//!     }
//!     sum
//! });
//! address.send(40).await?; // message-send and message-queued; message-receive on the other side
//! address.send(2).await?;
//! drop(address);
//! assert_eq!(task.await?, 42);
//! # Ok(())
//! # }
//! ```
//!
//! [`spawn`] starts a process with a mailbox, [`Options`] sets the mailbox's size, and [`register`] gives the process a name.
//! If your program uses tokio channels already, replace `tokio::sync::mpsc` by this module: it has every name of that one.
//! [`channel`] and [`unbounded_channel`] have the signatures of tokio's. All mailboxes are tokio channels inside, so tokio's
//! rules hold for the closing of a channel and the drop of an end, and cancellation loses no message.
//!
//! A receiver polls for up to 3 us before it sleeps if its last message came from another thread within that time. It finds out
//! by trials of up to 200 us: the first after 16 sleeps, then after twice as many each time, up to 65,536. Its thread does nothing
//! else meanwhile. So two threads that answer each other need no wake-ups, but keep two processors busy. A receiver does not poll for
//! the messages of a sender that does not wait for answers. On a machine with one processor there are no trials.
//!
//! # Contents of a message
//!
//! A message carries the sender's [sequential trace token](crate::seq_trace), and the sender's user tag if it
//! [spreads](crate::spread_tag). The process that receives the message takes on both: its later messages and file operations
//! show them.
//!
//! # Probes
//!
//! | probe | fires |
//! |---|---|
//! | `message-send` | on the sender's thread, once the message has its place in the mailbox; a sender that waits for a place has not sent yet |
//! | `message-queued` | right after `message-send`, before the receiver can see the message; not if a process sends to itself |
//! | `message-receive` | when the receiver takes the message out |
//!
//! A receiver that waits for a message fires `process-wait` and `process-resume` as well, with its own pid as the resource. So does a
//! sender that waits for a place in a full mailbox, with the pid of the receiver: `dyntrace why` follows it to that process.
//!
//! Until its first wait, the receiver in the probes is the process that made the mailbox. Then it is the process that waits.
//!
//! A task started by [`tokio::spawn`] is not a process: tracers see the thread that polls it. Between two such tasks of one
//! thread, sender and receiver have the same pid, and `message-queued` does not fire. [`dyntrace::spawn`](crate::spawn) gives a
//! task a pid of its own.
//!
//! A message's size is in machine words, rounded up, without the memory that it points to. With [`Options::measured`] the
//! message reports it ([`Size`]). The queue length is the one after the step. It counts messages that a selective receive has
//! skipped, and for senders also the places that others have [reserved](Sender::reserve) or are about to fill.

#[cfg_attr(not(all(recorded, target_os = "linux")), allow(dead_code, reason = "there is no monitor"))]
pub(crate) mod depth;
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

/// The mailbox of a process: the end that messages come out of.
pub type Mailbox<T> = Receiver<T>;

/// The address of a process that takes messages of type `T`: the end that messages go into.
pub type Address<T> = Sender<T>;
