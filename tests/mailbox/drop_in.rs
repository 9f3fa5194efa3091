//! One text for both: tokio's channel, and ours.

macro_rules! a_channel_of {
    ($name:ident, $($mpsc:ident)::+) => {
        mod $name {
            use std::future::poll_fn;
            use std::sync::Arc;
            use std::thread;
            use std::time::Duration;

            use $($mpsc)::+::error::{SendError, SendTimeoutError, TryRecvError, TrySendError};
            use $($mpsc)::+::{Receiver, Sender, WeakSender, channel};

            use crate::runtime;

            fn three() -> (Sender<u32>, Receiver<u32>) {
                let (sender, receiver) = channel(3);
                (1..=3).for_each(|number| sender.try_send(number).unwrap());
                (sender, receiver)
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
                    assert_eq!((sender.strong_count(), receiver.sender_strong_count()), (1, 1));
                    assert_eq!(receiver.sender_weak_count(), 1);
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
            #[should_panic(expected = "buffer")]
            fn room_for_nothing_is_refused() {
                channel::<u32>(0);
            }
        }
    };
}

a_channel_of!(tokios, tokio::sync::mpsc);
a_channel_of!(ours, dyntrace::mailbox);
