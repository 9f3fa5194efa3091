//! Spans of OpenTelemetry: lines of OTLP in JSON, each the data of one export, as the collector's file receiver reads them.

mod endpoint;
mod group;
mod ids;
mod message;
mod sampling;
mod span;
mod writer;

use std::io::{self, BufWriter};
use std::path::Path;

use dyntrace_reader::{FileOperation, FileOperations, Trace};

use crate::{losses, private, recording};
use endpoint::Endpoint;
use group::Groups;
use sampling::Rules;
pub use sampling::Sampling;
use writer::{Receiver, Writer};

/// Writes the operations that the rules keep, and tells how many are left out.
pub fn convert(trace: &Trace, output: &Path, sampling: &Sampling) -> io::Result<()> {
    let to = match Endpoint::of(output)? {
        Some(endpoint) => Receiver::Endpoint(endpoint),
        None => Receiver::File(BufWriter::new(private::create(output, private::mode(trace))?)),
    };
    let mut spans =
        Spans { writer: Writer::new(to), rules: sampling.rules(), groups: Groups::default(), kept: 0, left_out: 0 };
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
    spans.finish()?;
    if spans.left_out > 0 {
        say!("{} operations converted, {} left out by the rules", spans.kept, spans.left_out);
    }
    if operations.given_up() > 0 {
        losses::warn(&format!("{} operations left out: too many were in flight at once", operations.given_up()));
    }
    Ok(())
}

struct Spans<'t> {
    writer: Writer<'t>,
    rules: Rules,
    groups: Groups<'t>,
    kept: u64,
    left_out: u64,
}

impl<'t> Spans<'t> {
    /// Takes an operation. One that is in flight ends with the trace, at `end`.
    fn take(&mut self, operation: &FileOperation<'t>, end: i64) -> io::Result<()> {
        let place = self.groups.place(operation, end, &mut self.writer)?;
        if !self.rules.keep(operation, end, place.trace) {
            self.left_out += 1;
            return Ok(());
        }
        self.kept += 1;
        self.groups.keep(operation);
        self.writer.push(operation.process, &span::of_operation(operation, end, place))
    }

    fn finish(&mut self) -> io::Result<()> {
        self.groups.finish(&mut self.writer)?;
        self.writer.finish()
    }
}
