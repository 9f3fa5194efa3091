//! Models for loom: several threads set, send and reset tokens at once. Each process has its own part; they share only the era.
//! Here a lock replaces tokio's channel: it gives the same ordering.

use std::sync::Arc;

use dyntrace_probes::primitives::{Mutex, lock};
use loom::thread;

use super::era::{begun, era, next};
use super::{Flags, Packed, Sequence};

type Channel = Arc<Mutex<Option<Packed>>>;

/// A process that sets a token and sends a message, and the era of that token.
fn sends(channel: &Channel) -> thread::JoinHandle<(u32, Sequence)> {
    let channel = channel.clone();
    thread::spawn(move || {
        let (set_in, mut process) = (begun(), Sequence::NEW);
        process.of_era(set_in).set(42.into(), Flags::SEND);
        let mut carried = Packed::NOTHING;
        // In the current era: a reset may have happened.
        process.of_era(era()).send(&mut carried);
        *lock(&channel) = Some(carried);
        (set_in, process)
    })
}

/// A process that receives the message, if it has arrived, and takes on its token first.
fn receives(channel: &Channel) -> Option<Sequence> {
    let carried = lock(channel).take()?;
    let (era, mut process) = (era(), Sequence::NEW);
    assert_ne!(era, 0, "who has a message of one with a token knows that there are tokens");
    if carried.is_of(era) {
        process.of_era(era).receive_packed(&carried, None);
    }
    Some(process)
}

#[test]
fn loom_a_message_brings_its_token_to_who_has_never_heard_of_any() {
    loom::model(|| {
        let channel = Channel::default();
        let sender = sends(&channel);
        let received = receives(&channel);
        assert!(sender.join().unwrap().1.token().is_some());
        let mut receiver = received.or_else(|| receives(&channel)).expect("it was sent");
        assert_eq!(receiver.of_era(era()).token().map(|token| token.label), Some(42.into()));
    });
}

#[test]
fn loom_no_token_outlives_a_reset() {
    loom::model(|| {
        let channel = Channel::default();
        let sender = sends(&channel);
        let resets = thread::spawn(|| {
            let before = begun();
            next();
            before
        });
        let mut processes: Vec<Sequence> = receives(&channel).into_iter().collect();
        let (set_in, process) = sender.join().unwrap();
        processes.push(process);
        let reset = resets.join().unwrap();
        assert!(era() > reset, "it never goes back");
        processes.extend(receives(&channel));
        for mut process in processes {
            assert_eq!(process.of_era(era()).token().is_some(), set_in == era());
        }
    });
}

#[test]
fn loom_tokens_set_at_once_are_of_one_era() {
    loom::model(|| {
        let others = [(); 2].map(|()| thread::spawn(begun));
        let own = begun();
        assert_eq!(others.map(|other| other.join().unwrap()), [own; 2]);
        assert_eq!((own, era()), (1, 1));
    });
}
