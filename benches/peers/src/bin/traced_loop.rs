//! Runs a loop over a function, traced or not: `traced_loop CASE CALLS` prints the CPU time of a call in nanoseconds, one line for
//! each thread. The same for Erlang is `../otp/traced_calls.erl`, for uftrace `uftrace/traced_loop.c`.

use std::hint::black_box;
use std::thread;

use clap::{Parser, ValueEnum};
use dyntrace::recorder;
use dyntrace::trace::{Limits, Session};
use dyntrace_peers::{cpu_ns, tracing_to_file};
use tempfile::TempDir;
use tracing_subscriber::fmt::format::FmtSpan;

mod provider {
    dyntrace::include_provider!("peers");
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Case {
    /// Without the attribute.
    Function,
    /// With the attribute, and no session.
    Unset,
    /// Sessions trace it, in another process.
    Elsewhere,
    /// Sessions trace calls with other arguments.
    Unwanted,
    /// Its calls are counted.
    Count,
    /// Its calls are counted and timed.
    Time,
    /// Its calls are recorded.
    Call,
    /// Its calls and their ends are recorded.
    Return,
    /// Each call of the one without the attribute records the event of a traced call, its texts written beforehand.
    Event,
    /// Its calls are written by `tracing`, as events.
    Told,
    /// Its calls and their ends are written, as a span that is entered and left.
    Span,
}

#[derive(Parser)]
struct Options {
    case: Case,
    calls: u64,
    /// Number of sessions with the same settings.
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
        Case::Event => fired(&options, &directory),
        Case::Told => {
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

/// Has a flight recorder record each call, with this number of events.
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

/// Has a flight recorder record a probe that each call fires.
fn fired(options: &Options, directory: &TempDir) {
    let mut recording = recorder::Options::new(directory.path());
    recording.mode = recorder::Mode::Overwrite;
    recording.probes = vec!["call".into()];
    let recording = recorder::Session::start(recording).expect("the recorder starts");
    measure(options, fireds);
    recording.stop();
}

impl Options {
    /// Includes the warm-up calls.
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

/// Returns the CPU time of a call, after a warm-up of a tenth of the calls.
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
fn fireds(calls: u64) {
    for call in 0..calls {
        provider::call(|| ("<0.1.0>", "traced_loop::traced/2", "123456, 1000000", None::<&str>, None::<&str>));
        black_box(function(call, calls));
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
