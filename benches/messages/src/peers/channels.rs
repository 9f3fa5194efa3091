//! The other channels, each with a bound or without.
//!
//! All of them have many senders, a receiver that waits in a task, and the order of each sender's messages. They differ in two
//! guarantees, which dyntrace's mailbox takes over from tokio's channel. `guarantees.rs` tests both:
//!
//! | channel | a cancelled receive loses no message | a task that always finds messages yields to others |
//! |---|---|---|
//! | tokio | yes | yes: each operation takes from the task's budget |
//! | flume | yes | no |
//! | crossfire | yes | no |
//! | kanal | no: the sender puts the message into the future that waits, and it is dropped with that | no |

use crossfire::mpsc::{Array, List};
use crossfire::{AsyncRx, MAsyncTx, MTx};
use tokio::sync::{Semaphore, mpsc};

use super::{Message, Peer, pause_after};

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
}

pub struct TokioUnbounded;

impl Peer for TokioUnbounded {
    type Sender = mpsc::UnboundedSender<Message>;
    type Receiver = mpsc::UnboundedReceiver<Message>;

    fn channel(_places: usize) -> (Self::Sender, Self::Receiver) {
        mpsc::unbounded_channel()
    }

    async fn send(sender: &Self::Sender, message: Message) -> bool {
        pause_after(message).await;
        sender.send(message).is_ok()
    }

    async fn receive(receiver: &mut Self::Receiver) -> Option<Message> {
        receiver.recv().await
    }
}

/// tokio's channel with a bound that no program reaches, which a mailbox without a bound stands on: its floor.
pub struct TokioVast;

impl Peer for TokioVast {
    type Sender = mpsc::Sender<Message>;
    type Receiver = mpsc::Receiver<Message>;

    fn channel(_places: usize) -> (Self::Sender, Self::Receiver) {
        mpsc::channel(Semaphore::MAX_PERMITS)
    }

    async fn send(sender: &Self::Sender, message: Message) -> bool {
        pause_after(message).await;
        sender.try_send(message).is_ok()
    }

    async fn receive(receiver: &mut Self::Receiver) -> Option<Message> {
        receiver.recv().await
    }
}

pub struct Flume<const BOUNDED: bool>;

impl<const BOUNDED: bool> Peer for Flume<BOUNDED> {
    type Sender = flume::Sender<Message>;
    type Receiver = flume::Receiver<Message>;

    fn channel(places: usize) -> (Self::Sender, Self::Receiver) {
        if BOUNDED { flume::bounded(places) } else { flume::unbounded() }
    }

    async fn send(sender: &Self::Sender, message: Message) -> bool {
        if BOUNDED {
            return sender.send_async(message).await.is_ok();
        }
        pause_after(message).await;
        sender.send(message).is_ok()
    }

    async fn receive(receiver: &mut Self::Receiver) -> Option<Message> {
        receiver.recv_async().await.ok()
    }
}

pub struct Kanal<const BOUNDED: bool>;

impl<const BOUNDED: bool> Peer for Kanal<BOUNDED> {
    type Sender = kanal::AsyncSender<Message>;
    type Receiver = kanal::AsyncReceiver<Message>;

    fn channel(places: usize) -> (Self::Sender, Self::Receiver) {
        if BOUNDED { kanal::bounded_async(places) } else { kanal::unbounded_async() }
    }

    async fn send(sender: &Self::Sender, message: Message) -> bool {
        if BOUNDED {
            return sender.send(message).await.is_ok();
        }
        pause_after(message).await;
        sender.try_send(message).is_ok_and(|sent| sent)
    }

    async fn receive(receiver: &mut Self::Receiver) -> Option<Message> {
        receiver.recv().await.ok()
    }
}

pub struct Crossfire;

impl Peer for Crossfire {
    type Sender = MAsyncTx<Array<Message>>;
    type Receiver = AsyncRx<Array<Message>>;

    fn channel(places: usize) -> (Self::Sender, Self::Receiver) {
        crossfire::mpsc::bounded_async(places)
    }

    async fn send(sender: &Self::Sender, message: Message) -> bool {
        sender.send(message).await.is_ok()
    }

    async fn receive(receiver: &mut Self::Receiver) -> Option<Message> {
        receiver.recv().await.ok()
    }
}

pub struct CrossfireUnbounded;

impl Peer for CrossfireUnbounded {
    type Sender = MTx<List<Message>>;
    type Receiver = AsyncRx<List<Message>>;

    fn channel(_places: usize) -> (Self::Sender, Self::Receiver) {
        crossfire::mpsc::unbounded_async()
    }

    async fn send(sender: &Self::Sender, message: Message) -> bool {
        pause_after(message).await;
        sender.send(message).is_ok()
    }

    async fn receive(receiver: &mut Self::Receiver) -> Option<Message> {
        receiver.recv().await.ok()
    }
}
