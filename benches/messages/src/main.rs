//! `messages [--messages N] [--rounds N]`: prints medians in nanoseconds of alternating samples, and the medians of their ratios, as
//! JSON.

mod compare;
mod contests;
mod figures;
#[cfg(test)]
mod guarantees;
mod peers;

use clap::Parser;
use dyntrace::recorder::{Mode, Options, Session};
use serde_json::{Map, Value, json};

use compare::{compare, median};
use contests::Load;
use figures::{Threads, ping_pong, throughput};
use peers::channels::Tokio;
use peers::mailboxes::{Plain, Processes, WithToken};

#[derive(Parser)]
struct Arguments {
    /// Messages of a sample
    #[arg(long, default_value_t = 400_000)]
    messages: u64,
    /// Number of samples of each kind
    #[arg(long, default_value_t = 9)]
    rounds: usize,
    /// Only figures whose names begin with this
    #[arg(long, default_value = "")]
    only: String,
}

/// Measures the nanoseconds that recording all three probes adds to a message, in files that were written before.
fn recorded(rounds: usize, messages: u64) -> f64 {
    let folder = tempfile::tempdir().expect("a folder for the trace");
    let sample = || throughput::<Processes>(Threads::One, 1, messages);
    let recorded = || {
        let mut options = Options::new(folder.path());
        options.mode = Mode::Overwrite;
        options.size = Some(1 << 20);
        let session = Session::start(options).expect("a session");
        sample();
        let took = sample();
        session.stop().expect("it stops");
        took
    };
    median((0..rounds).map(|_| recorded() - sample()).collect())
}

fn main() {
    let Arguments { messages, rounds, only } = Arguments::parse();
    let mut figures = Map::new();
    let mut figure = |name: String, measure: &dyn Fn() -> Value| {
        if name.starts_with(&only) {
            figures.insert(name, measure());
        }
    };
    let round_trips = messages / 10;
    let places = [(Threads::One, "one"), (Threads::Two, "two")];
    for (threads, on) in places {
        let tokio = || ping_pong::<Tokio>(threads, round_trips);
        figure(format!("ping-pong, {on}"), &|| compare(rounds, || ping_pong::<Plain>(threads, round_trips), tokio));
        figure(format!("ping-pong of processes, {on}"), &|| {
            compare(rounds, || ping_pong::<Processes>(threads, round_trips), tokio)
        });
        for senders in [1, 8] {
            let tokio = || throughput::<Tokio>(threads, senders, messages);
            figure(format!("throughput, {senders} senders, {on}"), &|| {
                compare(rounds, || throughput::<Plain>(threads, senders, messages), tokio)
            });
            figure(format!("processes, {senders} senders, {on}"), &|| {
                compare(rounds, || throughput::<Processes>(threads, senders, messages), tokio)
            });
        }
    }
    for (threads, on) in places {
        let loads = [1, 8].map(|senders| (Load::Messages { senders, messages }, format!("{senders} senders, {on}")));
        let round_trips = (Load::RoundTrips(round_trips), format!("round trip, {on}"));
        for (load, arrangement) in loads.into_iter().chain([round_trips]) {
            for (kind, beside) in contests::ALL {
                figure(format!("{kind}, {arrangement}"), &|| beside(rounds, load, threads));
            }
        }
    }
    figure("recorded".to_owned(), &|| json!(recorded(rounds, messages)));
    // Last, as from the first token on every message checks for a token.
    for (threads, on) in places {
        for senders in [1, 8] {
            let tokio = || throughput::<Tokio>(threads, senders, messages);
            figure(format!("with a token, {senders} senders, {on}"), &|| {
                compare(rounds, || throughput::<WithToken>(threads, senders, messages), tokio)
            });
        }
    }
    println!("{}", Value::Object(figures));
}
