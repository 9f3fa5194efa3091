//! Runs one loop over a function, traced or not: `traced_loop CASE CALLS` prints the CPU time of a call in nanoseconds, one line for
//! each thread.

use std::hint::black_box;
use std::thread;

use clap::{Parser, ValueEnum};
use dyntrace::trace::{Limits, Session};
use dyntrace_peers::cpu_ns;

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
    let mut sessions = Vec::new();
    for _ in 0..options.sessions {
        sessions.push(session(options.case).await);
    }
    let run = if options.case == Case::Function { functions } else { traceds };
    let threads: Vec<_> = (0..options.threads).map(|_| thread::spawn(move || cost(run, options.calls))).collect();
    for thread in threads {
        println!("{:.2}", thread.join().expect("the loop does not panic"));
    }
    let counted: u64 = sessions.iter().flat_map(Session::counts).map(|count| count.calls).sum();
    if let Case::Count | Case::Time = options.case {
        let calls = (options.calls + options.calls / 10) * (options.threads * options.sessions) as u64;
        assert_eq!(counted, calls, "each call is counted once");
    }
}

async fn session(case: Case) -> Session {
    let session = Session::start(Limits::default(), |_| ()).expect("a session starts");
    let pattern = match case {
        Case::Function | Case::Unset => return session,
        Case::Elsewhere => "**::traced",
        Case::Unwanted => "**::traced(_, b) if b == 0",
        Case::Count => "**::traced do silent, count",
        Case::Time => "**::traced do silent, time",
    };
    session.pattern(pattern).await.expect("the pattern is right");
    if case == Case::Elsewhere {
        let other = dyntrace::spawn(async { dyntrace::process::current() }).await.expect("the process ends");
        session.process(other).await;
    }
    session
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
fn function(a: u64, b: u64) -> u64 {
    black_box(a) ^ b
}

#[dyntrace::traced]
#[inline(never)]
fn traced(a: u64, b: u64) -> u64 {
    black_box(a) ^ b
}
