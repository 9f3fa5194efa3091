//! The ways to watch polls, each set up as its documentation has it.

use std::fs::{self, File};
use std::future::poll_fn;
use std::hint::black_box;
use std::time::Duration;
#[cfg(not(target_arch = "x86_64"))]
use std::time::Instant;

use dial9_tokio_telemetry::telemetry::{Dial9HandleTokioExt as _, DiskBuffer, TokioAttachOptions, recorder};
use dial9_trace_format::decoder::Decoder;
use dyntrace::recorder::{Glob, Mode, Session};
use dyntrace_reader::Trace;
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;
use tokio_metrics::TaskMonitor;
use tracing::{Instrument, info_span};
use tracing_appender::non_blocking::NonBlockingBuilder;
use tracing_subscriber::fmt::format::FmtSpan;

use crate::{Options, Task, measure, polls, task};

pub fn runtime() -> Runtime {
    Builder::new_current_thread().build().expect("a runtime")
}

pub fn with_hooks() -> Runtime {
    dyntrace::runtime::Builder::new_current_thread().build().expect("a runtime")
}

/// Reads the clock around each poll, and does nothing with the times.
pub fn timed(task: impl Future<Output = ()>) -> impl Future<Output = ()> {
    let mut task = Box::pin(task);
    poll_fn(move |context| {
        black_box(now());
        let answer = task.as_mut().poll(context);
        black_box(now());
        answer
    })
}

/// The clock that the recorder reads.
#[cfg(target_arch = "x86_64")]
fn now() -> u64 {
    #[allow(unused_unsafe, reason = "a safe function in newer Rust than the oldest supported one")]
    // SAFETY: every such processor has this instruction; it touches no memory.
    unsafe {
        std::arch::x86_64::_rdtsc()
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn now() -> Instant {
    Instant::now()
}

fn session(options: &Options, mode: Mode) -> Session {
    let mut recording = dyntrace::recorder::Options::new(options.directory.join("dyntrace"));
    recording.mode = mode;
    recording.probes = vec![Glob::from("dyntrace:process-*scheduled")];
    Session::start(recording).unwrap_or_else(|error| panic!("{error}"))
}

pub fn stream(options: &Options, runtime: Runtime, spawn: impl Fn(Task) -> JoinHandle<()>) {
    let session = session(options, Mode::Stream);
    measure(options, runtime, spawn, || drop(session));
    let trace = Trace::open(options.directory.join("dyntrace")).unwrap_or_else(|error| panic!("{error}"));
    let count = |probe| trace.events().filter(|event| event.class.probe() == probe).count() as u64;
    assert_eq!([count("process-scheduled"), count("process-unscheduled")], [polls(options); 2]);
}

pub fn overwrite(options: &Options) {
    let session = session(options, Mode::Overwrite);
    measure(options, runtime(), |yields| dyntrace::spawn(task(yields)).into_inner(), || drop(session));
}

pub fn dial9(options: &Options, spawn: impl Fn(Task) -> JoinHandle<()>) {
    let recorder = recorder(DiskBuffer::single_file(options.directory.join("dial9.bin")).expect("a file")).build();
    let attached = recorder.handle().attach_tokio_runtime(Builder::new_current_thread(), TokioAttachOptions::default());
    measure(options, attached.expect("a runtime"), spawn, || recorder.graceful_shutdown(Duration::from_secs(60)));
    let trace = fs::read(options.directory.join("dial9.0.bin")).expect("its trace");
    let (mut began, mut ended) = (0, 0);
    let mut decoder = Decoder::new(&trace).expect("a trace of dial9's");
    let counted = decoder.for_each_event(|event| {
        began += u64::from(event.name == "PollStartEvent");
        ended += u64::from(event.name == "PollEndEvent");
    });
    counted.expect("a sound trace");
    assert_eq!([began, ended], [polls(options); 2]);
}

pub fn monitor(options: &Options) {
    let monitor = TaskMonitor::new();
    measure(options, runtime(), |yields| tokio::spawn(TaskMonitor::instrument(&monitor, task(yields))), || {});
    assert_eq!(monitor.cumulative().total_poll_count, polls(options));
}

pub fn spans(options: &Options) {
    let path = options.directory.join("spans.log");
    let (writer, guard) = NonBlockingBuilder::default().lossy(false).finish(File::create(&path).expect("a file"));
    let lines = tracing_subscriber::fmt().with_ansi(false).with_span_events(FmtSpan::ENTER | FmtSpan::EXIT);
    lines.with_writer(writer).init();
    measure(
        options,
        runtime(),
        |yields| tokio::spawn(Instrument::instrument(task(yields), info_span!("task"))),
        || drop(guard),
    );
    let lines = fs::read_to_string(path).expect("its lines").lines().count() as u64;
    // The span is entered once more in each task, to drop the future.
    assert_eq!(lines, 2 * (polls(options) + 2));
}

#[cfg(feature = "console")]
pub fn console(options: &Options) {
    use tracing_subscriber::prelude::*;
    let layer = console_subscriber::ConsoleLayer::builder().server_addr(options.directory.join("console"));
    tracing_subscriber::registry().with(layer.spawn()).init();
    measure(options, runtime(), |yields| tokio::spawn(task(yields)), || {});
}

#[cfg(not(feature = "console"))]
pub fn console(_: &Options) {
    panic!("built without the feature console");
}
