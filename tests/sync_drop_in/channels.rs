// Channels of which each receiver sees every value, or the last one.

use sync::{broadcast, watch};

pub async fn every_item_of_watch_is_there() {
    anywhere::<(watch::Sender<u32>, watch::Receiver<u32>)>();
    let (sender, mut receiver): (watch::Sender<u32>, watch::Receiver<u32>) = watch::channel(1);
    let _: watch::Sender<u32> = watch::Sender::new(1);
    let _: watch::Sender<u32> = watch::Sender::default();
    let sent: Result<(), watch::error::SendError<u32>> = sender.send(2);
    sent.unwrap();
    let changed: Result<(), watch::error::RecvError> =
        future::<Result<(), watch::error::RecvError>>(receiver.changed()).await;
    changed.unwrap();
    let seen: watch::Ref<'_, u32> = receiver.borrow_and_update();
    assert_eq!((*seen, seen.has_changed()), (2, false));
    drop(seen);
    let found: Result<watch::Ref<'_, u32>, watch::error::RecvError> =
        future::<Result<watch::Ref<'_, u32>, watch::error::RecvError>>(receiver.wait_for(|value| *value == 2)).await;
    drop(found.unwrap());
    receiver.mark_changed();
    let has_changed: Result<bool, watch::error::RecvError> = receiver.has_changed();
    assert!(has_changed.unwrap() && receiver.borrow().has_changed() && !sender.borrow().has_changed());
    receiver.mark_unchanged();
    assert!(!receiver.has_changed().unwrap());
    sender.send_modify(|value| *value += 1);
    let _: bool = sender.send_if_modified(|_| false);
    let before: u32 = sender.send_replace(9);
    assert_eq!((before, *sender.borrow()), (3, 9));
    let (also, other): (watch::Sender<u32>, watch::Receiver<u32>) = (sender.clone(), receiver.clone());
    assert!(sender.same_channel(&also) && receiver.same_channel(&other));
    assert!(!sender.same_channel(&watch::Sender::new(9)) && !receiver.same_channel(&watch::channel(9).1));
    let third: watch::Receiver<u32> = also.subscribe();
    assert_eq!((also.sender_count(), also.receiver_count(), also.is_closed()), (2, 3, false));
    drop((receiver, other, third));
    future::<()>(also.closed()).await;
    assert!(also.is_closed());
}

pub async fn every_item_of_broadcast_is_there() {
    anywhere::<(broadcast::Sender<u32>, broadcast::WeakSender<u32>, broadcast::Receiver<u32>)>();
    let (sender, mut receiver): (broadcast::Sender<u32>, broadcast::Receiver<u32>) = broadcast::channel(2);
    let alone: broadcast::Sender<String> = broadcast::Sender::new(1);
    assert_eq!((alone.receiver_count(), receiver.is_closed()), (0, false));
    let sent: Result<usize, broadcast::error::SendError<u32>> = sender.send(1);
    assert_eq!(sent.unwrap(), 1);
    let received: Result<u32, broadcast::error::RecvError> =
        future::<Result<u32, broadcast::error::RecvError>>(receiver.recv()).await;
    assert_eq!(received, Ok(1));
    let received: Result<u32, broadcast::error::TryRecvError> = receiver.try_recv();
    assert_eq!(received, Err(broadcast::error::TryRecvError::Empty));
    let _: fn(&mut broadcast::Receiver<u32>) -> Result<u32, broadcast::error::RecvError> =
        broadcast::Receiver::blocking_recv;
    let weak: broadcast::WeakSender<u32> = sender.downgrade();
    let strong: Option<broadcast::Sender<u32>> = weak.clone().upgrade();
    assert_eq!((weak.strong_count(), weak.weak_count()), (2, 1));
    let also: broadcast::Sender<u32> = sender.clone();
    assert_eq!((also.strong_count(), also.weak_count()), (3, 1));
    assert_eq!((receiver.sender_strong_count(), receiver.sender_weak_count()), (3, 1));
    let other: broadcast::Receiver<u32> = also.subscribe();
    let third: broadcast::Receiver<u32> = receiver.resubscribe();
    assert!(also.same_channel(&sender) && other.same_channel(&third) && other.is_empty() && sender.is_empty());
    sender.send(2).unwrap();
    assert_eq!((sender.len(), other.len(), sender.receiver_count()), (1, 1, 3));
    drop((receiver, other, third));
    future::<()>(sender.closed()).await;
    drop((sender, also, strong));
    assert!(weak.upgrade().is_none());
}

pub async fn a_receiver_sees_the_last_value() {
    let (sender, mut receiver) = watch::channel(1);
    let mut other = receiver.clone();
    assert!(!is_ready(pin!(receiver.changed())));
    sender.send(2).unwrap();
    sender.send(3).unwrap();
    // The wait that was given up has lost no change.
    receiver.changed().await.unwrap();
    assert_eq!((*receiver.borrow(), receiver.has_changed().unwrap(), other.has_changed().unwrap()), (3, false, true));
    // Receivers are not notified.
    assert!(!sender.send_if_modified(|value| *value == 4));
    assert!(!is_ready(pin!(receiver.changed())));
    // A later receiver has seen the value.
    assert!(!sender.subscribe().has_changed().unwrap());
    sender.send(4).unwrap();
    drop(sender);
    assert!(receiver.has_changed().is_err());
    // The last value is seen before the end.
    other.changed().await.unwrap();
    assert_eq!(*other.borrow_and_update(), 4);
    assert_eq!(other.changed().await.unwrap_err().to_string(), "channel closed");
}

pub async fn a_receiver_waits_for_a_certain_value() {
    let (sender, mut receiver) = watch::channel(1);
    let waits = tokio::spawn(async move {
        let found = receiver.wait_for(|value| *value > 2).await.map(|value| *value);
        (found.unwrap(), receiver)
    });
    yield_now().await;
    sender.send(2).unwrap();
    yield_now().await;
    assert!(!waits.is_finished());
    sender.send(3).unwrap();
    let (found, mut receiver) = waits.await.unwrap();
    assert_eq!(found, 3);
    let mut calls = pin!(receiver.wait_for(|_| panic!("no value is good")));
    catch_unwind(AssertUnwindSafe(|| is_ready(calls.as_mut()))).unwrap_err();
    sender.send(4).unwrap();
}

pub async fn a_panic_in_send_modify_keeps_the_channel() {
    let (sender, mut receiver) = watch::channel(1);
    catch_unwind(AssertUnwindSafe(|| sender.send_modify(|_| panic!("no value")))).unwrap_err();
    assert!(!receiver.has_changed().unwrap());
    drop(sender);
    assert!(receiver.wait_for(|value| *value > 1).await.is_err());
    let sender = watch::Sender::new(1);
    assert_eq!(sender.send(2).unwrap_err().0, 2);
    assert_eq!((sender.send_replace(3), *sender.borrow()), (1, 3));
    let mut closed = pin!(sender.closed());
    assert!(is_ready(closed.as_mut()));
}

pub async fn every_receiver_receives_every_value() {
    let (sender, mut one) = broadcast::channel(4);
    let mut other = sender.subscribe();
    let mut waits = Box::pin(one.recv());
    assert!(!is_ready(waits.as_mut()));
    sender.send(1).unwrap();
    // Giving up the wait loses no value.
    drop(waits);
    assert_eq!((one.recv().await, other.try_recv()), (Ok(1), Ok(1)));
    for value in 2..8 {
        assert_eq!(sender.send(value).unwrap(), 2);
    }
    assert_eq!(one.recv().await, Err(broadcast::error::RecvError::Lagged(2)));
    assert_eq!(other.try_recv(), Err(broadcast::error::TryRecvError::Lagged(2)));
    assert_eq!((one.recv().await, one.len()), (Ok(4), 3));
    let weak = sender.downgrade();
    drop(sender);
    assert!(one.is_closed() && weak.upgrade().is_none());
    for value in 5..8 {
        assert_eq!(one.recv().await, Ok(value));
    }
    assert_eq!(one.recv().await, Err(broadcast::error::RecvError::Closed));
}

pub async fn a_broadcast_ends_with_its_receivers() {
    let (sender, receiver) = broadcast::channel(1);
    let mut closed = Box::pin(sender.closed());
    assert!(!is_ready(closed.as_mut()));
    drop(receiver);
    closed.await;
    assert_eq!(sender.send(1).unwrap_err().0, 1);
    let mut late = sender.subscribe();
    sender.send(2).unwrap();
    catch_unwind(AssertUnwindSafe(|| late.blocking_recv())).unwrap_err();
    let thread = thread::spawn(move || (late.blocking_recv(), late.blocking_recv()));
    drop(sender);
    assert_eq!(thread.join().unwrap(), (Ok(2), Err(broadcast::error::RecvError::Closed)));
    catch_unwind(|| drop(broadcast::channel::<u32>(0))).unwrap_err();
}

pub async fn texts_of_channels_are_alike() {
    let (sender, receiver) = broadcast::channel::<u32>(1);
    let texts = format!("{sender:?} {:?} {receiver:?}", sender.downgrade());
    assert_eq!(texts, "broadcast::Sender broadcast::WeakSender broadcast::Receiver");
    let (sender, receiver) = watch::channel(1);
    assert!(format!("{sender:?}").starts_with("Sender { shared: Shared { value: "));
    assert!(format!("{receiver:?}").starts_with("Receiver { shared: Shared { value: "));
    assert!(format!("{:?}", receiver.borrow()).starts_with("Ref { inner: "));
}
