//! What the programs here share.

use std::path::Path;

use tracing_appender::non_blocking;
use tracing_appender::non_blocking::WorkerGuard;
use tracing_subscriber::fmt::format::FmtSpan;

/// CPU time of this thread, in nanoseconds.
pub fn cpu_ns() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a timespec to write to.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Sends the lines of `tracing` to a file in `directory` by a thread of their own, until the guard goes. Of spans those that
/// `spans` says.
pub fn tracing_to_file(directory: &Path, spans: FmtSpan) -> WorkerGuard {
    let (writer, guard) = non_blocking(tracing_appender::rolling::never(directory, "tracing.log"));
    tracing_subscriber::fmt().with_ansi(false).with_span_events(spans).with_writer(writer).init();
    guard
}
