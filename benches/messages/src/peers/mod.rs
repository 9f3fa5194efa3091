//! dyntrace's mailboxes and their peers, behind two traits: channels, and actors that own one.

pub mod actors;
pub mod channels;
pub mod mailboxes;

use std::future::Future;

use tokio::task::JoinHandle;

/// Two words.
pub type Message = [u64; 2];

/// A channel of many senders and one receiver.
pub trait Peer: 'static {
    type Sender: Clone + Send + Sync + 'static;
    type Receiver: Send + 'static;

    /// An unbounded channel ignores `places`.
    fn channel(places: usize) -> (Self::Sender, Self::Receiver);
    fn send(sender: &Self::Sender, message: Message) -> impl Future<Output = bool> + Send;
    fn receive(receiver: &mut Self::Receiver) -> impl Future<Output = Option<Message>> + Send;

    fn spawn<F: Future<Output = ()> + Send + 'static>(future: F) -> JoinHandle<()> {
        tokio::spawn(future)
    }
}
