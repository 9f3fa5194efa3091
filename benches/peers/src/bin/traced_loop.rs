//! Runs one loop over a function, traced or not: `traced_loop CASE CALLS` prints the CPU time of a call in nanoseconds, one line for
//! each thread. Erlang's is `../otp/traced_calls.erl`, uftrace's `uftrace/traced_loop.c`.

use std::hint::black_box;
use std::thread;

use clap::{Parser, ValueEnum};
use dyntrace::recorder;
use dyntrace::trace::{Limits, Session};
use dyntrace_peers::{cpu_ns, tracing_to_file};
use tempfile::TempDir;
use tracing_subscriber::fmt::format::FmtSpan;

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Case {
    /// Without the attribute.
    Function,
    /// Nobody traces it.
    Unset,
    /// Sessions trace it, in another process.
    Elsewhere,
    /// Sessions trace calls with other arguments.
    Unwanted,
    /// Its calls are counted.
    Count,
    /// And their time is.
    Time,
    /// Its calls are recorded.
    Call,
    /// And their ends are.
    Return,
    /// Its calls are written by `tracing`, as events.
    Event,
    /// And their ends are: as a span, when it is entered and when it is left.
    Span,
}

#[derive(Parser)]
struct Options {
    case: Case,
    calls: u64,
    /// How many sessions do the same.
    #[arg(long, default_value_t = 1)]
    sessions: usize,
    #[arg(long, default_value_t = 1)]
    threads: usize,
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let options = Options::parse();
    let directory = tempfile::tempdir().expect("a folder for what is recorded");
    match options.case {
        Case::Function => measure(&options, functions),
        Case::Unset => measure(&options, traceds),
        Case::Elsewhere => traced_by(&options, "**::traced").await,
        Case::Unwanted => traced_by(&options, "**::traced(_, b) if b == 0").await,
        Case::Count => traced_by(&options, "**::traced do silent, count").await,
        Case::Time => traced_by(&options, "**::traced do silent, time").await,
        Case::Call => recorded(&options, &directory, "**::traced", 1).await,
        Case::Return => recorded(&options, &directory, "**::traced do return", 2).await,
        Case::Event => {
            let _writer = tracing_to_file(directory.path(), FmtSpan::NONE);
            measure(&options, tolds);
        }
        Case::Span => {
            let _writer = tracing_to_file(directory.path(), FmtSpan::ACTIVE);
            measure(&options, spanneds);
        }
    }
}

async fn traced_by(options: &Options, pattern: &str) {
    let mut sessions = Vec::new();
    for _ in 0..options.sessions {
        let session = Session::start(Limits::default(), |_| ()).expect("a session starts");
        session.set(pattern).await.expect("the pattern is right");
        if options.case == Case::Elsewhere {
            let other = dyntrace::spawn(async { dyntrace::process::current() }).await.expect("the process ends");
            session.include(other).await;
        }
        sessions.push(session);
    }
    measure(options, traceds);
    let counted: u64 = sessions.iter().flat_map(Session::counts).map(|count| count.calls).sum();
    if let Case::Count | Case::Time = options.case {
        assert_eq!(counted, options.all_calls() * options.sessions as u64, "each call is counted once");
    }
}

/// Has a flight recorder record each call, by so many events.
async fn recorded(options: &Options, directory: &TempDir, pattern: &str, events: u64) {
    let mut recording = recorder::Options::new(directory.path());
    recording.mode = recorder::Mode::Overwrite;
    recording.probes = vec!["function-*".into()];
    let recording = recorder::Session::start(recording).expect("the recorder starts");
    let session = Session::to_probes(Limits::default()).expect("a session starts");
    session.set(pattern).await.expect("the pattern is right");
    measure(options, traceds);
    assert_eq!(session.close().await.delivered, events * options.all_calls(), "each call is told");
    recording.stop();
}

impl Options {
    /// Those that warm up, too.
    fn all_calls(&self) -> u64 {
        (self.calls + self.calls / 10) * self.threads as u64
    }
}

fn measure(options: &Options, run: fn(u64)) {
    let calls = options.calls;
    let threads: Vec<_> = (0..options.threads).map(|_| thread::spawn(move || cost(run, calls))).collect();
    for thread in threads {
        println!("{:.2}", thread.join().expect("the loop does not panic"));
    }
}

/// CPU time of a call, after a tenth of them to warm up.
fn cost(run: fn(u64), calls: u64) -> f64 {
    run(black_box(calls / 10));
    let before = cpu_ns();
    run(black_box(calls));
    (cpu_ns() - before) as f64 / calls as f64
}

#[inline(never)]
fn functions(calls: u64) {
    for call in 0..calls {
        black_box(function(call, calls));
    }
}

#[inline(never)]
fn traceds(calls: u64) {
    for call in 0..calls {
        black_box(traced(call, calls));
    }
}

#[inline(never)]
fn tolds(calls: u64) {
    for call in 0..calls {
        black_box(told(call, calls));
    }
}

#[inline(never)]
fn spanneds(calls: u64) {
    for call in 0..calls {
        black_box(spanned(call, calls));
    }
}

#[inline(never)]
fn function(a: u64, b: u64) -> u64 {
    black_box(a) ^ b
}

#[dyntrace::traced]
#[inline(never)]
fn traced(a: u64, b: u64) -> u64 {
    black_box(a) ^ b
}

#[inline(never)]
fn told(a: u64, b: u64) -> u64 {
    tracing::info!(a, b);
    black_box(a) ^ b
}

#[tracing::instrument]
#[inline(never)]
fn spanned(a: u64, b: u64) -> u64 {
    black_box(a) ^ b
}
