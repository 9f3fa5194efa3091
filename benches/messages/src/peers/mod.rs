//! dyntrace's mailboxes and their peers, behind two traits: channels, and actors that own one.

use std::future::Future;

use tokio::task::{JoinHandle, yield_now};

/// Two words.
pub type Message = [u64; 2];

/// Lets receivers run after each 128 messages of a sender, as a bound does or tokio's budget.
///
/// Else a sender without a bound fills the memory first, and a sample measures that.
pub async fn pause_after([number, _]: Message) {
    if number % 128 == 127 {
        yield_now().await;
    }
}

/// A channel whose halves are of these types, or one with a bound and one without: how it is made, and how its halves are used.
macro_rules! peer {
    (
        $(#[$doc:meta])*
        $name:ident $(<const $bounded:ident>)? ($sender_type:ty, $receiver_type:ty)
        channel($places:pat) $channel:expr;
        send($sender:ident, $message:ident) $send:expr;
        receive($receiver:ident) $receive:expr;
    ) => {
        $(#[$doc])*
        pub struct $name $(<const $bounded: bool>)?;

        impl $(<const $bounded: bool>)? $crate::peers::Peer for $name $(<$bounded>)? {
            type Sender = $sender_type;
            type Receiver = $receiver_type;

            fn channel($places: usize) -> (Self::Sender, Self::Receiver) {
                $channel
            }

            async fn send($sender: &Self::Sender, $message: $crate::peers::Message) -> bool {
                $send
            }

            async fn receive($receiver: &mut Self::Receiver) -> Option<$crate::peers::Message> {
                $receive
            }
        }
    };
}

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

pub mod actors;
pub mod channels;
pub mod mailboxes;
