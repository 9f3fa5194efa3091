//! Commands that read traces, on traces whose every event is known.

mod clocks;
mod collector;
mod damaged;
mod diff;
mod drivers;
mod follow;
mod formats;
#[path = "../common/interrupts.rs"]
mod interrupts;
#[path = "../../../formats/src/convert/perfetto/message.rs"]
#[allow(missing_docs, reason = "of the command itself")]
mod message;
mod otlp;
#[path = "../common/page.rs"]
mod page;
mod parquet;
mod partition;
mod perfetto;
#[path = "../../../formats/src/convert/perfetto/read.rs"]
#[allow(missing_docs, reason = "of the command itself")]
mod read;
mod report;
mod storm;
mod streams;
mod tasks;
mod token;
mod waits;
#[path = "../../../reader/tests/common/mod.rs"]
mod writer;

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Output};

/// Runs `dyntrace` with these arguments.
fn dyntrace(arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Output {
    Command::new(env!("CARGO_BIN_EXE_dyntrace")).args(arguments).output().expect("dyntrace runs")
}

/// Runs `dyntrace COMMAND traces... OPTIONS -o OUTPUT`; it must end with `status`.
fn made(command: &str, traces: &[&Path], options: &[&str], output: &Path, status: i32) {
    let traces = traces.iter().map(|trace| trace.as_os_str());
    let options = options.iter().map(OsStr::new);
    let arguments =
        [OsStr::new(command)].into_iter().chain(traces).chain(options).chain([OsStr::new("-o"), output.as_os_str()]);
    let output = dyntrace(arguments);
    assert_eq!(output.status.code(), Some(status), "{output:?}");
    assert!(output.stdout.is_empty(), "{output:?}");
}
