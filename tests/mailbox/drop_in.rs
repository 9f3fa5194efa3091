//! The same source for tokio's channels and dyntrace's. It uses every name of tokio's.

#[path = "../common/tokio_names.rs"]
mod tokio_names;

use tokio_names::{public_names, source_of_tokio, uses};

macro_rules! a_channel_of {
    ($name:ident, $($mpsc:ident)::+) => {
        mod $name {
            use std::future::poll_fn;
            use std::sync::Arc;
            use std::thread;
            use std::time::Duration;

            use $($mpsc)::+::error::{SendError, SendTimeoutError, TryRecvError, TrySendError};
            use $($mpsc)::+::{OwnedPermit, Permit, PermitIterator, Receiver, Sender, WeakSender, channel};
            use $($mpsc)::+::{UnboundedReceiver, UnboundedSender, WeakUnboundedSender, unbounded_channel};

            use crate::runtime;

            fn three() -> (Sender<u32>, Receiver<u32>) {
                let (sender, receiver) = channel(3);
                (1..=3).for_each(|number| sender.try_send(number).unwrap());
                (sender, receiver)
            }

            #[test]
            fn ends_go_anywhere() {
                fn goes_anywhere<E: Send + Sync + Unpin + std::fmt::Debug>() {}
                type Message = std::cell::Cell<std::marker::PhantomPinned>;
                goes_anywhere::<(Sender<Message>, Receiver<Message>, WeakSender<Message>, OwnedPermit<Message>)>();
                goes_anywhere::<(UnboundedSender<Message>, UnboundedReceiver<Message>, WeakUnboundedSender<Message>)>();
            }

            #[test]
            fn messages_arrive_in_order() {
                runtime().block_on(async {
                    let (sender, mut receiver) = channel(2);
                    let task = tokio::spawn(async move {
                        for number in 0..100 {
                            sender.send(number).await.unwrap();
                        }
                    });
                    for number in 0..100 {
                        assert_eq!(receiver.recv().await, Some(number));
                    }
                    assert_eq!(receiver.recv().await, None);
                    task.await.unwrap();
                });
            }

            #[test]
            fn a_full_one_gives_messages_back() {
                runtime().block_on(async {
                    let (sender, mut receiver) = three();
                    assert_eq!(sender.try_send(4), Err(TrySendError::Full(4)));
                    let timeout = Duration::from_millis(1);
                    assert_eq!(sender.send_timeout(5, timeout).await, Err(SendTimeoutError::Timeout(5)));
                    assert_eq!((sender.capacity(), sender.max_capacity()), (0, 3));
                    assert_eq!(receiver.recv().await, Some(1));
                    assert_eq!(sender.send_timeout(6, timeout).await, Ok(()));
                    assert_eq!((receiver.len(), receiver.capacity(), receiver.max_capacity()), (3, 0, 3));
                });
            }

            #[test]
            fn a_closed_one_gives_messages_back_and_keeps_those_it_has() {
                runtime().block_on(async {
                    let (sender, mut receiver) = three();
                    let permitted = {
                        receiver.try_recv().unwrap();
                        sender.try_reserve().unwrap()
                    };
                    receiver.close();
                    assert!(sender.is_closed() && receiver.is_closed());
                    sender.closed().await;
                    assert_eq!(sender.send(4).await, Err(SendError(4)));
                    assert_eq!(sender.try_send(5), Err(TrySendError::Closed(5)));
                    let timeout = Duration::from_millis(1);
                    assert_eq!(sender.send_timeout(6, timeout).await, Err(SendTimeoutError::Closed(6)));
                    assert!(sender.reserve().await.is_err());
                    permitted.send(7);
                    let mut rest = Vec::new();
                    assert_eq!(receiver.recv_many(&mut rest, 2).await, 2);
                    assert_eq!(receiver.recv_many(&mut rest, 2).await, 1);
                    assert_eq!(rest, [2, 3, 7]);
                    assert_eq!((receiver.recv().await, receiver.try_recv()), (None, Err(TryRecvError::Disconnected)));
                });
            }

            #[test]
            fn the_last_sender_closes_it_and_a_weak_one_does_not_keep_it_open() {
                runtime().block_on(async {
                    let (sender, mut receiver) = three();
                    let weak: WeakSender<u32> = sender.downgrade();
                    assert_eq!((sender.strong_count(), receiver.sender_strong_count(), weak.strong_count()), (1, 1, 1));
                    let also_weak = weak.clone();
                    assert_eq!((sender.weak_count(), receiver.sender_weak_count(), also_weak.weak_count()), (2, 2, 2));
                    let again = weak.upgrade().unwrap();
                    assert!(again.same_channel(&sender) && again.clone().same_channel(&sender));
                    drop((sender, again));
                    assert!(weak.upgrade().is_none());
                    for number in 1..=3 {
                        assert_eq!(receiver.recv().await, Some(number));
                    }
                    assert_eq!(receiver.recv().await, None);
                    assert!(receiver.is_empty());
                });
            }

            #[test]
            fn a_dropped_receiver_drops_its_messages() {
                let (sender, receiver) = channel(1);
                let message = Arc::new(());
                sender.try_send(message.clone()).unwrap();
                drop(receiver);
                assert_eq!(Arc::strong_count(&message), 1);
                assert!(sender.is_closed());
            }

            #[test]
            fn a_cancelled_wait_loses_nothing() {
                runtime().block_on(async {
                    let (sender, mut receiver) = three();
                    assert!(tokio::time::timeout(Duration::from_millis(1), sender.send(4)).await.is_err());
                    for number in 1..=3 {
                        assert_eq!(receiver.recv().await, Some(number));
                    }
                    assert!(tokio::time::timeout(Duration::from_millis(1), receiver.recv()).await.is_err());
                    sender.reserve().await.unwrap().send(5);
                    assert_eq!(poll_fn(|context| receiver.poll_recv(context)).await, Some(5));
                    assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
                });
            }

            #[test]
            fn threads_wait_too() {
                let (sender, mut receiver) = channel(1);
                let thread = thread::spawn(move || {
                    for number in 0..100 {
                        sender.blocking_send(number).unwrap();
                    }
                    sender
                });
                for number in 0..100 {
                    assert_eq!(receiver.blocking_recv(), Some(number));
                }
                let sender = thread.join().unwrap();
                drop(receiver);
                assert_eq!(sender.blocking_send(100), Err(SendError(100)));
            }

            #[test]
            fn several_places_at_once() {
                runtime().block_on(async {
                    let (sender, mut receiver) = channel(3);
                    assert!(sender.reserve_many(4).await.is_err());
                    let mut permits: PermitIterator<'_, u32> = sender.reserve_many(3).await.unwrap();
                    assert_eq!((permits.len(), sender.capacity()), (3, 0));
                    assert!(matches!(sender.try_reserve_many(1), Err(TrySendError::Full(()))));
                    let first: Permit<'_, u32> = permits.next().unwrap();
                    first.send(1);
                    permits.next().unwrap().send(2);
                    drop(permits);
                    assert_eq!(sender.capacity(), 1);
                    sender.try_reserve_many(1).unwrap().for_each(|permit| permit.send(3));
                    let mut rest = Vec::new();
                    assert_eq!(poll_fn(|context| receiver.poll_recv_many(context, &mut rest, 0)).await, 0);
                    assert_eq!(poll_fn(|context| receiver.poll_recv_many(context, &mut rest, 2)).await, 2);
                    assert_eq!(receiver.recv_many(&mut rest, 2).await, 1);
                    assert_eq!(rest, [1, 2, 3]);
                    receiver.close();
                    assert!(matches!(sender.try_reserve_many(1), Err(TrySendError::Closed(()))));
                    assert!(sender.reserve_many(0).await.is_err());
                });
            }

            #[test]
            fn a_place_with_its_sender() {
                runtime().block_on(async {
                    let (sender, mut receiver) = channel(1);
                    let (other, _others) = channel(1);
                    let permit: OwnedPermit<u32> = sender.clone().reserve_owned().await.unwrap();
                    let of_other = other.clone().try_reserve_owned().unwrap();
                    assert!(permit.same_channel(&permit) && !permit.same_channel(&of_other));
                    assert!(permit.same_channel_as_sender(&sender) && !permit.same_channel_as_sender(&other));
                    assert_eq!((sender.strong_count(), sender.weak_count()), (2, 0));
                    let Err(TrySendError::Full(again)) = sender.clone().try_reserve_owned() else { panic!("no place") };
                    assert!(again.same_channel(&sender));
                    let again = permit.release();
                    assert_eq!((again.capacity(), sender.strong_count()), (1, 3));
                    let permit = again.try_reserve_owned().unwrap();
                    receiver.close();
                    assert!(permit.send(1).is_closed());
                    assert_eq!((receiver.recv().await, receiver.recv().await), (Some(1), None));
                    let Err(TrySendError::Closed(closed)) = sender.try_reserve_owned() else { panic!("it is closed") };
                    assert!(closed.reserve_owned().await.is_err());
                });
            }

            #[test]
            fn one_without_a_bound() {
                let (sender, mut receiver): (UnboundedSender<u32>, UnboundedReceiver<u32>) = unbounded_channel();
                let weak: WeakUnboundedSender<u32> = sender.downgrade();
                assert_eq!((sender.strong_count(), sender.weak_count()), (1, 1));
                assert_eq!((weak.strong_count(), weak.clone().weak_count()), (1, 2));
                (0..10_000).for_each(|number| sender.send(number).unwrap());
                assert!(weak.upgrade().unwrap().same_channel(&sender.clone()));
                let mut rest = Vec::new();
                assert_eq!(receiver.blocking_recv_many(&mut rest, 9_999), 9_999);
                assert_eq!((receiver.blocking_recv(), receiver.try_recv()), (Some(9_999), Err(TryRecvError::Empty)));
                receiver.close();
                runtime().block_on(sender.closed());
                assert_eq!((sender.send(1), sender.is_closed()), (Err(SendError(1)), true));
                assert_eq!(receiver.blocking_recv_many(&mut rest, 1), 0);
                drop(sender);
                assert!(weak.upgrade().is_none());
            }

            #[test]
            #[should_panic(expected = "buffer")]
            fn room_for_nothing_is_refused() {
                channel::<u32>(0);
            }
        }
    };
}

a_channel_of!(tokios, tokio::sync::mpsc);
a_channel_of!(ours, dyntrace::mailbox);
a_channel_of!(of_sync, dyntrace::sync::mpsc);

#[test]
fn every_public_name_is_used() {
    let used = include_str!("drop_in.rs");
    let of_mpsc = source_of_tokio().join("src/sync/mpsc");
    let names: Vec<String> =
        ["bounded.rs", "unbounded.rs"].iter().flat_map(|file| public_names(&of_mpsc.join(file))).collect();
    assert!(names.len() > 60, "only {} names found", names.len());
    for name in names {
        assert!(uses(used, &name), "{name} of tokio::sync::mpsc");
    }
}
