//! Spans and events under a subscriber that formats them and writes nothing, with and without dyntrace's layer.
//!
//! Counted in instructions, or in the nanoseconds of CPU time of a pass that it prints.

use std::hint::black_box;
use std::io;
use std::time::Instant;

use clap::{Parser, ValueEnum};
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
    /// Makes a span with a tag, enters it, has an event in it, leaves and closes it.
    Whole,
}

fn main() {
    let arguments = Arguments::parse();
    let format = tracing_subscriber::fmt::layer().with_ansi(false).with_writer(io::sink);
    // `Option` would be a layer, too, and cost its test.
    if arguments.layer {
        tracing_subscriber::registry().with(format).with(dyntrace_tracing::layer()).init();
    } else {
        tracing_subscriber::registry().with(format).init();
    }
    let tagged = || info_span!("request", request_id = black_box("req-17"));
    let since = Instant::now();
    match arguments.kind {
        Kind::Event => passes(arguments.passes, event),
        Kind::Plain => within(arguments.passes, &info_span!("request", user = black_box("anna"))),
        Kind::Tagged => within(arguments.passes, &tagged()),
        Kind::Whole => passes(arguments.passes, || tagged().in_scope(event)),
    }
    println!("{:.2}", since.elapsed().as_nanos() as f64 / f64::from(arguments.passes.max(1)));
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
