//! Counts events: `count_events TRACE PROBE` prints the number of events of the probe in a trace, and the number of lost
//! events.

use std::path::PathBuf;

use clap::Parser;
use dyntrace_reader::Trace;

#[derive(Parser)]
struct Options {
    trace: PathBuf,
    probe: String,
}

fn main() {
    let options = Options::parse();
    let trace = Trace::open(&options.trace).unwrap_or_else(|error| panic!("{error}"));
    let events = trace.events().filter(|event| event.class.probe() == options.probe).count();
    let losses = trace.losses();
    assert!(losses.damaged.is_empty(), "{losses:?}");
    println!("{events} {}", losses.events());
}
