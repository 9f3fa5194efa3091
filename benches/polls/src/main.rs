//! Polls of a task on one thread, each recorded or watched by PEER: `polls-bench PEER` prints the nanoseconds of CPU of a poll, those of
//! the thread that polls and those of the whole process until all is written. It fails if a recording lacks a poll.
//!
//! Built with `tokio_unstable`: without it, tokio tells of polls neither to dial9 nor to `console-subscriber`.

mod peers;

use std::future::poll_fn;
use std::path::PathBuf;
use std::pin::Pin;
use std::task::Poll;

use clap::{Parser, ValueEnum};
use rustix::time::{ClockId, clock_gettime};
use tokio::runtime::Runtime;
use tokio::task::JoinHandle;

#[derive(Clone, Copy, ValueEnum)]
enum Peer {
    /// `tokio::spawn`.
    Bare,
    /// `tokio::spawn`, with a reading of the clock before and after each poll: what all pay that tell both times.
    Clock,
    /// `dyntrace::spawn`, nobody looking.
    Idle,
    /// `dyntrace::spawn`, its polls recorded in files that grow.
    Stream,
    /// The same in circular files.
    Overwrite,
    /// `tokio::spawn` in a runtime of `dyntrace::runtime`, its polls recorded in files that grow.
    Hooks,
    /// `tokio::spawn` in a runtime that dial9 records into a file.
    Dial9,
    /// dial9's own `spawn`, which records wakes, too.
    Dial9Wakes,
    /// A `TaskMonitor` of `tokio-metrics`, which adds up and records nothing.
    Monitor,
    /// A span of `tracing` around each poll, whose beginnings and ends are lines of a file.
    Spans,
    /// The layer of `console-subscriber`, which adds up. Needs the feature `console`.
    Console,
}

#[derive(Parser)]
struct Options {
    peer: Peer,
    /// Number of polls, after a warm-up of a tenth of them.
    #[arg(long, default_value_t = 2_000_000)]
    polls: u64,
    /// Folder of the recording.
    #[arg(long, default_value_os_t = std::env::temp_dir())]
    directory: PathBuf,
}

/// The future of each task, of which some peers record the name.
type Task = Pin<Box<dyn Future<Output = ()> + Send>>;

async fn task(yields: Task) {
    yields.await;
}

fn main() {
    let options = Options::parse();
    match options.peer {
        Peer::Bare => measure(&options, peers::runtime(), |yields| tokio::spawn(task(yields)), || {}),
        Peer::Clock => measure(&options, peers::runtime(), |yields| tokio::spawn(peers::timed(task(yields))), || {}),
        Peer::Idle => measure(&options, peers::runtime(), |yields| dyntrace::spawn(task(yields)).into_inner(), || {}),
        Peer::Stream => peers::stream(&options, peers::runtime(), |yields| dyntrace::spawn(task(yields)).into_inner()),
        Peer::Overwrite => peers::overwrite(&options),
        Peer::Hooks => peers::stream(&options, peers::with_hooks(), |yields| tokio::spawn(task(yields))),
        Peer::Dial9 => peers::dial9(&options, |yields| tokio::spawn(task(yields))),
        Peer::Dial9Wakes => peers::dial9(&options, |yields| dial9_tokio_telemetry::spawn(task(yields))),
        Peer::Monitor => peers::monitor(&options),
        Peer::Spans => peers::spans(&options),
        Peer::Console => peers::console(&options),
    }
}

/// Prints the cost of a poll in `runtime`. `end` ends the recording.
fn measure(options: &Options, runtime: Runtime, spawn: impl Fn(Task) -> JoinHandle<()>, end: impl FnOnce()) {
    let run = |polls| runtime.block_on(async { spawn(yields(polls)).await.expect("it does not panic") });
    run(options.polls / 10);
    let (thread, process) = (spent(ClockId::ThreadCPUTime), spent(ClockId::ProcessCPUTime));
    run(options.polls);
    let thread = spent(ClockId::ThreadCPUTime) - thread;
    drop(runtime);
    end();
    let process = spent(ClockId::ProcessCPUTime) - process;
    println!("{:.2} {:.2}", thread as f64 / options.polls as f64, process as f64 / options.polls as f64);
}

/// How many polls the tasks of [`measure`] have: each one more than it yields.
fn polls(options: &Options) -> u64 {
    options.polls + options.polls / 10 + 2
}

/// Wakes itself and waits, so that nothing but polls is counted.
fn yields(mut left: u64) -> Task {
    Box::pin(poll_fn(move |context| {
        if left == 0 {
            return Poll::Ready(());
        }
        left -= 1;
        context.waker().wake_by_ref();
        Poll::Pending
    }))
}

/// CPU time in nanoseconds.
fn spent(clock: ClockId) -> i64 {
    let time = clock_gettime(clock);
    time.tv_sec * 1_000_000_000 + time.tv_nsec
}
