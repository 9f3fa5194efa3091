//! Messages to an actor.

use std::thread;

use tokio::sync::oneshot;

use super::Threads;
use crate::peers::actors::{Actors, Counter};
use crate::peers::pause_after;

/// Measures nanoseconds a message, from `senders` tasks to one actor that counts them.
pub fn tells<A: Actors>(threads: Threads, senders: u64, messages: u64) -> f64 {
    threads.runtime().block_on(async {
        let of_each = messages / senders;
        let (counter, counted) = Counter::new(of_each * senders);
        let address = A::start(counter).await;
        let clock = threads.clock();
        for _ in 0..senders {
            let address = address.clone();
            A::spawn(async move {
                for number in 0..of_each {
                    pause_after([number, 0]).await;
                    assert!(A::tell(&address, [number, 0]).await);
                }
            });
        }
        counted.await.expect("it counts them");
        clock.each(messages)
    })
}

/// Measures nanoseconds from a question to its answer, between a task and an actor on one thread or with a thread for each.
pub fn asks<A: Actors>(threads: Threads, rounds: u64) -> f64 {
    let asking = async move |address: A::Address| {
        let (answer, answered) = oneshot::channel();
        A::spawn(async move {
            let clock = threads.clock();
            for number in 0..rounds {
                assert_eq!(A::ask(&address, [number, 0]).await, [number, 0]);
            }
            answer.send(clock.each(rounds)).expect("it is awaited");
        });
        answered.await.expect("it says how long it took")
    };
    match threads {
        Threads::One => Threads::One.runtime().block_on(async {
            let (counter, _counted) = Counter::new(1);
            asking(A::start(counter).await).await
        }),
        Threads::Two => {
            let (started, address) = oneshot::channel();
            let (end, ended) = oneshot::channel::<()>();
            let other = thread::spawn(|| {
                Threads::One.runtime().block_on(async {
                    let (counter, _counted) = Counter::new(1);
                    assert!(started.send(A::start(counter).await).is_ok(), "it is awaited");
                    // The actor ends with its runtime.
                    let _ = ended.await;
                });
            });
            let took = Threads::One.runtime().block_on(async { asking(address.await.expect("it starts")).await });
            drop(end);
            other.join().expect("no panic");
            took
        }
    }
}
