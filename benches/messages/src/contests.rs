//! Each kind of mailbox beside its peers.

use serde_json::Value;

use crate::compare::compare_all;
use crate::figures::{Threads, asks, ping_pong, tells, throughput};
use crate::peers::Peer;
use crate::peers::actors::{self, Actors, Kameo, Ractor};
use crate::peers::channels::{Crossfire, CrossfireUnbounded, Flume, Kanal, Tokio, TokioUnbounded, TokioVast};
use crate::peers::mailboxes::{Plain, Unbounded};

/// The work of a sample.
#[derive(Clone, Copy)]
pub enum Load {
    Messages { senders: u64, messages: u64 },
    RoundTrips(u64),
}

impl Load {
    fn through<P: Peer>(self, threads: Threads) -> f64 {
        match self {
            Load::Messages { senders, messages } => throughput::<P>(threads, senders, messages),
            Load::RoundTrips(count) => ping_pong::<P>(threads, count),
        }
    }

    fn to<A: Actors>(self, threads: Threads) -> f64 {
        match self {
            Load::Messages { senders, messages } => tells::<A>(threads, senders, messages),
            Load::RoundTrips(count) => asks::<A>(threads, count),
        }
    }
}

/// Measures a kind of mailbox and its peers under a load.
pub type Contest = fn(rounds: usize, load: Load, threads: Threads) -> Value;

pub const ALL: [(&str, Contest); 4] = [
    ("bounded channels", bounded_channels),
    ("unbounded channels", unbounded_channels),
    ("bounded actors", bounded_actors),
    ("unbounded actors", unbounded_actors),
];

fn bounded_channels(rounds: usize, load: Load, on: Threads) -> Value {
    compare_all(
        rounds,
        &|| load.through::<Plain>(on),
        &[
            ("tokio", &|| load.through::<Tokio>(on)),
            ("flume", &|| load.through::<Flume<true>>(on)),
            ("kanal", &|| load.through::<Kanal<true>>(on)),
            ("crossfire", &|| load.through::<Crossfire>(on)),
        ],
    )
}

fn unbounded_channels(rounds: usize, load: Load, on: Threads) -> Value {
    compare_all(
        rounds,
        &|| load.through::<Unbounded>(on),
        &[
            ("tokio", &|| load.through::<TokioUnbounded>(on)),
            ("tokio's with a vast bound", &|| load.through::<TokioVast>(on)),
            ("flume", &|| load.through::<Flume<false>>(on)),
            ("kanal", &|| load.through::<Kanal<false>>(on)),
            ("crossfire", &|| load.through::<CrossfireUnbounded>(on)),
        ],
    )
}

fn bounded_actors(rounds: usize, load: Load, on: Threads) -> Value {
    compare_all(rounds, &|| load.to::<actors::Processes<true>>(on), &[("kameo", &|| load.to::<Kameo<true>>(on))])
}

fn unbounded_actors(rounds: usize, load: Load, on: Threads) -> Value {
    compare_all(
        rounds,
        &|| load.to::<actors::Processes<false>>(on),
        &[("kameo", &|| load.to::<Kameo<false>>(on)), ("ractor", &|| load.to::<Ractor>(on))],
    )
}
