//! The events of a process in parts, so that a later run can read the same parts again.

use std::path::Path;

use crate::merge::Events;
use crate::process::Process;
use crate::stream::{Stream, StreamFile};

/// Reads the events of a process in parts, returned by [`Trace::parts`](crate::Trace::parts).
///
/// A part ends at an offset in each file. The offsets of [`ends`](Self::ends) lie between two events, which never change: a program that
/// keeps them gets the same events again, in the same order, also when the recording has gone on since.
///
/// ```
/// use dyntrace_reader::Trace;
///
/// let trace = Trace::open("tests/golden")?;
/// let mut parts = trace.parts(&trace.processes()[0]);
/// let all = parts.part(|_file| u64::MAX).count();
/// let ends: Vec<_> = parts.ends().collect();
///
/// let mut again = trace.parts(&trace.processes()[0]);
/// let upto = |file: &std::path::Path| ends.iter().find(|(known, _)| *known == file).map_or(0, |(_, end)| *end);
/// assert_eq!(again.part(upto).count(), all);
/// assert_eq!(again.part(|_file| u64::MAX).count(), 0);
/// # Ok::<(), dyntrace_reader::Error>(())
/// ```
pub struct Parts<'t> {
    files: Vec<&'t StreamFile>,
    events: Events<'t>,
}

impl<'t> Parts<'t> {
    pub(crate) fn new(of_process: impl Iterator<Item = (&'t StreamFile, &'t Process)>) -> Self {
        let (files, streams) = of_process.map(|(file, of)| (file, Stream::new(file, of).upto(0))).unzip();
        Self { files, events: Events::new(streams) }
    }

    /// Returns the events of the next part in order of time: those behind the parts before, up to the offset that `upto` returns for each
    /// file. `u64::MAX` reads a file to its end.
    pub fn part(&mut self, upto: impl Fn(&Path) -> u64) -> &mut Events<'t> {
        self.events.go_on(self.files.iter().map(|file| upto(&file.path)));
        &mut self.events
    }

    /// Returns for each file the offset behind the events that were taken so far.
    pub fn ends(&self) -> impl Iterator<Item = (&'t Path, u64)> {
        self.files.iter().map(|file| file.path.as_path()).zip(self.events.offsets())
    }
}
