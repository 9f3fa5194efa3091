//! Events that come from elsewhere than the files of a trace, such as from a tracer.

use std::path::PathBuf;

use crate::error::Error;
use crate::event::Event;
use crate::process::Process;

/// A process whose events are delivered one by one.
#[derive(Debug)]
pub struct Source(Process);

impl Source {
    /// Returns a process with the event classes that this text describes: the `metadata` of a trace, in either format.
    ///
    /// # Errors
    ///
    /// [`Error::Metadata`] if the text is no metadata.
    pub fn new(metadata: &str) -> Result<Source, Error> {
        Process::parse(PathBuf::new(), metadata).map(Source)
    }

    /// Returns the event with this class id in the first class of streams. `data` has its fields, packed in the byte order that the
    /// metadata says.
    ///
    /// `None` if there is no such class, or `data` is not exactly as long as its fields.
    ///
    /// ```
    /// use dyntrace_reader::{Source, Value};
    ///
    /// # let metadata = std::fs::read_to_string("tests/golden/shop-12/metadata")?;
    /// let source = Source::new(&metadata)?;
    /// let event = source.event(0, 1_700_000_000_000_000_000, 12, b"").map(|event| event.tid);
    /// assert_eq!(event, None); // class 0 has fields
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn event<'s>(&'s self, class: u16, time: i64, tid: u64, data: &'s [u8]) -> Option<Event<'s>> {
        let (class, layout) = self.0.classes_of(0)?.get(class)?;
        (layout.measure(data)? == data.len()).then_some(Event { time, process: &self.0, tid, class, layout, data })
    }
}
