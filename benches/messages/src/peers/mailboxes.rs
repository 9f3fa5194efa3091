//! dyntrace's mailboxes.

use dyntrace::mailbox;
use dyntrace::seq_trace::{self, Flags};
use tokio::task::JoinHandle;

use super::{Message, Peer, pause_after};

/// A mailbox with a bound, in tokio's tasks, or in processes, each of which may have a token.
pub struct Ours<const PROCESSES: bool, const TOKEN: bool>;

pub type Plain = Ours<false, false>;
pub type Processes = Ours<true, false>;
pub type WithToken = Ours<true, true>;

impl<const PROCESSES: bool, const TOKEN: bool> Peer for Ours<PROCESSES, TOKEN> {
    type Sender = mailbox::Sender<Message>;
    type Receiver = mailbox::Receiver<Message>;

    fn channel(places: usize) -> (Self::Sender, Self::Receiver) {
        mailbox::channel(places)
    }

    async fn send(sender: &Self::Sender, message: Message) -> bool {
        sender.send(message).await.is_ok()
    }

    async fn receive(receiver: &mut Self::Receiver) -> Option<Message> {
        receiver.recv().await
    }

    fn spawn<F: Future<Output = ()> + Send + 'static>(future: F) -> JoinHandle<()> {
        if !PROCESSES {
            return tokio::spawn(future);
        }
        dyntrace::spawn(async move {
            if TOKEN {
                seq_trace::set_token(42, Flags::SEND | Flags::RECEIVE).expect("it is a process");
            }
            future.await;
        })
        .into_inner()
    }
}

peer! {
    /// A mailbox without a bound, in tokio's tasks.
    Unbounded (mailbox::UnboundedSender<Message>, mailbox::UnboundedReceiver<Message>)
    channel(_) mailbox::unbounded_channel();
    send(sender, message) {
        pause_after(message).await;
        sender.send(message).is_ok()
    };
    receive(receiver) receiver.recv().await;
}
