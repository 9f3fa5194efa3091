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

use super::{Message, pause_after};

peer! {
    Tokio (mpsc::Sender<Message>, mpsc::Receiver<Message>)
    channel(places) mpsc::channel(places);
    send(sender, message) sender.send(message).await.is_ok();
    receive(receiver) receiver.recv().await;
}

peer! {
    TokioUnbounded (mpsc::UnboundedSender<Message>, mpsc::UnboundedReceiver<Message>)
    channel(_) mpsc::unbounded_channel();
    send(sender, message) {
        pause_after(message).await;
        sender.send(message).is_ok()
    };
    receive(receiver) receiver.recv().await;
}

peer! {
    /// tokio's channel with a bound that no program reaches, which a mailbox without a bound stands on: its floor.
    TokioVast (mpsc::Sender<Message>, mpsc::Receiver<Message>)
    channel(_) mpsc::channel(Semaphore::MAX_PERMITS);
    send(sender, message) {
        pause_after(message).await;
        sender.try_send(message).is_ok()
    };
    receive(receiver) receiver.recv().await;
}

peer! {
    Flume<const BOUNDED> (flume::Sender<Message>, flume::Receiver<Message>)
    channel(places) if BOUNDED { flume::bounded(places) } else { flume::unbounded() };
    send(sender, message) {
        if BOUNDED {
            return sender.send_async(message).await.is_ok();
        }
        pause_after(message).await;
        sender.send(message).is_ok()
    };
    receive(receiver) receiver.recv_async().await.ok();
}

peer! {
    Kanal<const BOUNDED> (kanal::AsyncSender<Message>, kanal::AsyncReceiver<Message>)
    channel(places) if BOUNDED { kanal::bounded_async(places) } else { kanal::unbounded_async() };
    send(sender, message) {
        if BOUNDED {
            return sender.send(message).await.is_ok();
        }
        pause_after(message).await;
        sender.try_send(message).is_ok_and(|sent| sent)
    };
    receive(receiver) receiver.recv().await.ok();
}

peer! {
    Crossfire (MAsyncTx<Array<Message>>, AsyncRx<Array<Message>>)
    channel(places) crossfire::mpsc::bounded_async(places);
    send(sender, message) sender.send(message).await.is_ok();
    receive(receiver) receiver.recv().await.ok();
}

peer! {
    CrossfireUnbounded (MTx<List<Message>>, AsyncRx<List<Message>>)
    channel(_) crossfire::mpsc::unbounded_async();
    send(sender, message) {
        pause_after(message).await;
        sender.send(message).is_ok()
    };
    receive(receiver) receiver.recv().await.ok();
}
