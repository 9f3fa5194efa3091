//! Shared by the programs here.

use std::path::Path;

use tracing_appender::non_blocking;
use tracing_appender::non_blocking::WorkerGuard;
use tracing_subscriber::fmt::format::FmtSpan;

/// Returns the CPU time of this thread in nanoseconds.
pub fn cpu_ns() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is valid for writes.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Writes the lines of `tracing` to a file in `directory` on a separate thread, until the guard is dropped. `spans` selects the
/// events of spans.
pub fn tracing_to_file(directory: &Path, spans: FmtSpan) -> WorkerGuard {
    let (writer, guard) = non_blocking(tracing_appender::rolling::never(directory, "tracing.log"));
    tracing_subscriber::fmt().with_ansi(false).with_span_events(spans).with_writer(writer).init();
    guard
}
