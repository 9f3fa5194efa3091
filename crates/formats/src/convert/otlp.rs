//! Spans of OpenTelemetry: to a file, as the collector's file receiver reads it, or to a collector.

use std::io::{self, BufWriter, Write as _};
use std::path::Path;

use dyntrace_analysis::{losses, recording};
use dyntrace_reader::{FileOperations, Trace};
use dyntrace_terminal::private::{self, NewFile};
use dyntrace_terminal::say;

use crate::otlp::{Batch, Endpoint, Receiver, Sampling, Spans};

/// Writes the operations that the rules keep, and tells how many are left out.
pub fn convert(trace: &Trace, output: &Path, sampling: &Sampling) -> io::Result<()> {
    let to = match Endpoint::of(output)? {
        Some(endpoint) => Output::Endpoint(endpoint),
        None => Output::File(BufWriter::new(private::replace(output, recording::mode(trace))?)),
    };
    let mut spans = Spans::new(to, sampling);
    let mut operations = FileOperations::default();
    let mut end = 0;
    for event in recording::events(trace) {
        end = end.max(event.time);
        if let Some(operation) = operations.push(&event) {
            spans.take(&operation, end)?;
        }
    }
    for operation in operations.in_flight() {
        spans.take(operation, end)?;
    }
    let (kept, left_out) = (spans.kept, spans.left_out);
    spans.finish()?.finish()?;
    if left_out > 0 {
        say!("{kept} operations converted, {left_out} left out by the rules");
    }
    if operations.given_up() > 0 {
        losses::warn(&format!("{} operations left out: too many were in flight at once", operations.given_up()));
    }
    Ok(())
}

enum Output {
    File(BufWriter<NewFile>),
    Endpoint(Endpoint),
}

impl Output {
    fn finish(self) -> io::Result<()> {
        match self {
            Output::File(file) => file.into_inner()?.finish(),
            Output::Endpoint(endpoint) => endpoint.finish(),
        }
    }
}

impl Receiver for Output {
    fn take(&mut self, Batch { line, .. }: Batch) -> io::Result<()> {
        match self {
            Output::File(file) => file.write_all(&line),
            Output::Endpoint(endpoint) => endpoint.send(line),
        }
    }
}
