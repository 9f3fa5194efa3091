//! Operations as spans of OpenTelemetry: lines of OTLP in JSON, each the data of one export.

mod endpoint;
mod group;
mod ids;
mod message;
mod sampling;
mod span;
mod writer;

use std::io;

use dyntrace_reader::FileOperation;

pub use endpoint::{Endpoint, Verdict};
pub use sampling::Sampling;
pub use writer::{Batch, Receiver};

use group::Groups;
use writer::Writer;

/// Makes spans of the operations that the rules keep.
pub struct Spans<R> {
    writer: Writer<R>,
    rules: Sampling,
    groups: Groups,
    /// How many operations have become spans.
    pub kept: u64,
    /// How many operations the rules left out.
    pub left_out: u64,
}

impl<R: Receiver> Spans<R> {
    pub fn new(to: R, sampling: &Sampling) -> Spans<R> {
        Spans { writer: Writer::new(to), rules: sampling.clone(), groups: Groups::default(), kept: 0, left_out: 0 }
    }

    /// Takes an operation. One that is in flight ends at `end`, with the trace.
    pub fn take(&mut self, operation: &FileOperation<'_>, end: i64) -> io::Result<()> {
        let owner = self.writer.owner(operation.process);
        let place = self.groups.place(operation, owner, end, &mut self.writer)?;
        if !self.rules.keep(operation, end, place.trace) {
            self.left_out += 1;
            return Ok(());
        }
        self.kept += 1;
        self.groups.keep(operation);
        self.writer.push(owner, &span::of_operation(operation, end, place))
    }

    /// Ends the groups whose last operation ended before the time `before`. One that goes on has a second span.
    pub fn end_idle(&mut self, before: i64) -> io::Result<()> {
        self.groups.end(before, &mut self.writer)
    }

    /// Passes on the spans that wait for more.
    pub fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }

    /// Ends all groups, and passes on all spans. Returns the receiver.
    pub fn finish(mut self) -> io::Result<R> {
        self.groups.end(i64::MAX, &mut self.writer)?;
        self.writer.flush()?;
        Ok(self.writer.into_receiver())
    }
}
