//! Messages through a channel.

use std::thread;

use tokio::sync::oneshot;

use super::Threads;
use crate::peers::Peer;

/// Measures nanoseconds a message, from `senders` senders to one receiver.
pub fn throughput<P: Peer>(threads: Threads, senders: u64, messages: u64) -> f64 {
    threads.runtime().block_on(async {
        let (sender, mut receiver) = P::channel(256);
        let of_each = messages / senders;
        let clock = threads.clock();
        let receiving = P::spawn(async move {
            let mut received = 0;
            while P::receive(&mut receiver).await.is_some() {
                received += 1;
            }
            assert_eq!(received, of_each * senders);
        });
        for _ in 0..senders {
            let sender = sender.clone();
            P::spawn(async move {
                for number in 0..of_each {
                    assert!(P::send(&sender, [number, 0]).await);
                }
            });
        }
        drop(sender);
        receiving.await.expect("the receiver counts them");
        clock.each(messages)
    })
}

/// Measures nanoseconds a round trip between two tasks, on one thread or with a thread for each.
pub fn ping_pong<P: Peer>(threads: Threads, rounds: u64) -> f64 {
    let (ping, mut pings) = P::channel(8);
    let (pong, mut pongs) = P::channel(8);
    let answering = async move {
        while let Some(message) = P::receive(&mut pings).await {
            P::send(&pong, message).await;
        }
    };
    let asking = async move {
        let (answer, answered) = oneshot::channel();
        P::spawn(async move {
            let clock = threads.clock();
            for number in 0..rounds {
                P::send(&ping, [number, 0]).await;
                P::receive(&mut pongs).await;
            }
            answer.send(clock.each(rounds)).expect("it is awaited");
        });
        answered.await.expect("it says how long it took")
    };
    match threads {
        Threads::One => Threads::One.runtime().block_on(async {
            P::spawn(answering);
            asking.await
        }),
        Threads::Two => {
            let other = thread::spawn(|| Threads::One.runtime().block_on(async { P::spawn(answering).await }));
            let took = Threads::One.runtime().block_on(asking);
            other.join().expect("no panic").expect("it ends with its sender");
            took
        }
    }
}
