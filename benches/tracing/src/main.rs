//! Spans and events under a subscriber that formats them and writes nothing, with and without dyntrace's layer.
//!
//! Its instructions are counted from outside. It prints the CPU time of a pass in nanoseconds.

use std::hint::black_box;
use std::io;

use clap::{Parser, ValueEnum};
use rustix::time::{ClockId, clock_gettime};
use tracing::{Span, info, info_span};
use tracing_subscriber::prelude::*;

/// Runs passes of one kind.
#[derive(Parser)]
struct Arguments {
    /// One pass.
    kind: Kind,
    passes: u32,
    /// With dyntrace's layer.
    #[arg(long)]
    layer: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum Kind {
    /// An event, in no span.
    Event,
    /// Enters a span without a tag, has an event in it, and leaves it.
    Plain,
    /// The same in a span with a tag.
    Tagged,
    /// Inside of a span with a tag, makes a span that inherits it, enters it, has an event in it, leaves and closes it.
    Child,
    /// Makes a span with a tag, enters it, has an event in it, leaves and closes it.
    Whole,
}

fn main() {
    let arguments = Arguments::parse();
    let format = tracing_subscriber::fmt::layer().with_ansi(false).with_writer(io::sink);
    // An `Option` of a layer would be a layer, too, and cost a test.
    if arguments.layer {
        tracing_subscriber::registry().with(format).with(dyntrace_tracing::layer()).init();
    } else {
        tracing_subscriber::registry().with(format).init();
    }
    let tagged = || info_span!("request", request_id = black_box("req-17"));
    let before = computed();
    match arguments.kind {
        Kind::Event => passes(arguments.passes, event),
        Kind::Plain => within(arguments.passes, &info_span!("request", user = black_box("anna"))),
        Kind::Tagged => within(arguments.passes, &tagged()),
        Kind::Child => tagged().in_scope(|| passes(arguments.passes, || info_span!("step").in_scope(event))),
        Kind::Whole => passes(arguments.passes, || tagged().in_scope(event)),
    }
    println!("{:.2}", (computed() - before) / f64::from(arguments.passes.max(1)));
}

/// Returns the CPU time of the current thread in nanoseconds.
fn computed() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 * 1e9 + time.tv_nsec as f64
}

fn within(number: u32, span: &Span) {
    passes(number, || span.in_scope(event));
}

fn passes(number: u32, pass: impl Fn()) {
    (0..number).for_each(|_| pass());
}

fn event() {
    info!(bytes = black_box(4096), path = black_box("orders/17"), "stored");
}
