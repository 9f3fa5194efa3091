//! Measures the cost of recording an event: `record_loop RECORDER one|entry` prints, for each thread, the CPU nanoseconds of
//! one event. The same loop for LTTng-UST is `lttng/record_loop.c`.

mod dial9_events;
mod fastrace_spans;
mod floor;
mod guarded;
mod payload;
mod probes;
mod sparkles_events;
mod tracing_lines;

use std::hint::black_box;
use std::path::PathBuf;
use std::sync::Barrier;
use std::thread;

use clap::{Parser, ValueEnum};
use dyntrace::recorder::Mode;
use dyntrace_peers::{cpu_ns, tracing_to_file};
use tracing_subscriber::fmt::format::FmtSpan;

use payload::{Entry, Fire, Payload};

#[derive(Clone, Copy, ValueEnum)]
enum Recorder {
    /// The loop alone.
    None,
    /// Probes, recorded in overwrite mode.
    Overwrite,
    /// Probes, recorded in files that are soon full, so most events are dropped.
    Discard,
    /// Probes, recorded in files that grow.
    Stream,
    /// Probes that no session records, beside a session that records others.
    Idle,
    /// A ring of the thread's own, with the time in each event and nothing else.
    Floor,
    /// The same, where a signal handler may interrupt an event, and a reader finds it whole or not at all.
    Guarded,
    /// `tracing` with `fmt` through `non_blocking` into a file.
    Tracing,
    /// A span of `fastrace` for each event, its arguments as properties.
    Fastrace,
    /// An event in dial9's trace format.
    Dial9,
    /// An event of `sparkles`, which has no arguments.
    Sparkles,
}

#[derive(Parser)]
struct Options {
    recorder: Recorder,
    payload: Payload,
    /// Number of events of each thread, after a warm-up of a tenth of them.
    #[arg(long, default_value_t = 1_000_000)]
    events: u64,
    /// Number of recording threads, each on a core of its own.
    #[arg(long, default_value_t = 1)]
    threads: usize,
    /// Directory of the recording.
    #[arg(long, default_value_os_t = std::env::temp_dir())]
    directory: PathBuf,
    /// The size of a thread's file, in bytes.
    #[arg(long)]
    size: Option<u64>,
}

fn main() {
    let options = Options::parse();
    let probes = |mode, pattern| {
        let session = probes::start(&options.directory, mode, options.size, pattern);
        measure::<probes::Probes>(&options);
        drop(session);
    };
    match options.recorder {
        Recorder::None => measure::<Nothing>(&options),
        Recorder::Overwrite => probes(Mode::Overwrite, "peers_dyntrace:*"),
        Recorder::Discard => probes(Mode::Discard, "peers_dyntrace:*"),
        Recorder::Stream => probes(Mode::Stream, "peers_dyntrace:*"),
        Recorder::Idle => probes(Mode::Overwrite, "dyntrace:*"),
        Recorder::Floor => measure::<floor::Ring>(&options),
        Recorder::Guarded => measure::<guarded::Guarded>(&options),
        Recorder::Tracing => {
            let _writer = tracing_to_file(&options.directory, FmtSpan::NONE);
            measure::<tracing_lines::Lines>(&options);
        }
        Recorder::Fastrace => {
            fastrace_spans::start();
            measure::<fastrace_spans::Spans>(&options);
        }
        Recorder::Dial9 => {
            let _writer = dial9_events::Writer::start(&options.directory);
            measure::<dial9_events::Events>(&options);
        }
        Recorder::Sparkles => {
            let _writer = sparkles_events::start(&options.directory);
            measure::<sparkles_events::Names>(&options);
        }
    }
}

/// Prints the cost of an event for each thread.
fn measure<F: Fire>(options: &Options) {
    let all_warm = Barrier::new(options.threads);
    let run = &|core| {
        stay_on(core);
        options.payload.fire::<F>(black_box(options.events / 10));
        all_warm.wait();
        let before = cpu_ns();
        options.payload.fire::<F>(black_box(options.events));
        (cpu_ns() - before) as f64 / options.events as f64
    };
    thread::scope(|scope| {
        let threads: Vec<_> = (0..options.threads).map(|core| scope.spawn(move || run(core))).collect();
        for thread in threads {
            println!("{:.2}", thread.join().expect("recording does not panic"));
        }
    });
}

struct Nothing;

impl Fire for Nothing {
    #[inline(always)]
    fn one(_value: i64) {}

    #[inline(always)]
    fn entry(_entry: &Entry<'_>) {}
}

/// Binds this thread to one core.
fn stay_on(core: usize) {
    // SAFETY: an all-zero set is the empty one; CPU_SET and the call stay within it, as they get its own size.
    unsafe {
        let mut cores: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(core, &mut cores);
        libc::sched_setaffinity(0, size_of_val(&cores), &cores);
    }
}
