//! Both channels behind one trait.

use std::future::Future;

use dyntrace::mailbox;
use dyntrace::seq_trace::{self, Flags};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

/// Two words.
pub type Message = [u64; 2];

pub trait Peer: 'static {
    type Sender: Clone + Send + Sync + 'static;
    type Receiver: Send + 'static;

    fn channel(places: usize) -> (Self::Sender, Self::Receiver);
    fn send(sender: &Self::Sender, message: Message) -> impl Future<Output = bool> + Send;
    fn receive(receiver: &mut Self::Receiver) -> impl Future<Output = Option<Message>> + Send;
    fn spawn<F: Future<Output = ()> + Send + 'static>(future: F) -> JoinHandle<()>;
}

pub struct Tokio;

impl Peer for Tokio {
    type Sender = mpsc::Sender<Message>;
    type Receiver = mpsc::Receiver<Message>;

    fn channel(places: usize) -> (Self::Sender, Self::Receiver) {
        mpsc::channel(places)
    }

    async fn send(sender: &Self::Sender, message: Message) -> bool {
        sender.send(message).await.is_ok()
    }

    async fn receive(receiver: &mut Self::Receiver) -> Option<Message> {
        receiver.recv().await
    }

    fn spawn<F: Future<Output = ()> + Send + 'static>(future: F) -> JoinHandle<()> {
        tokio::spawn(future)
    }
}

/// dyntrace's channel, in tokio's tasks, or in processes, each of which may have a token.
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
