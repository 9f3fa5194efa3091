//! Code shared by dyntrace's recorder and the readers of its traces: the metadata of traces, as text of CTF 1.8 or of CTF 2; the layout
//! of packets and their checksums; patterns.
//!
//! Both formats describe the same bytes, so a trace's files of events do not depend on the format: only its file `metadata` does. The
//! recorder writes the text of a recording, and `dyntrace-reader` that of a trace it converts.
//!
//! CTF 1.8's text is TSDL, a language of its own. CTF 2's is a sequence of JSON texts (RFC 7464), one line each.

mod byte_order;
pub mod checksum;
pub mod event_header;
mod glob;
mod json;
mod literal;
mod model;
mod naming;
pub mod packet;
mod tsdl;

use std::fmt::{self, Display, Formatter};

pub use byte_order::ByteOrder;
pub use glob::Glob;
pub use model::{CONTEXT, Clock, Description, Event, FieldKind, RECORD_SEPARATOR, Stream, TIMES, Value};
pub use naming::Naming;

/// The name of new metadata until it replaces the file `metadata`. A program that ends meanwhile leaves it behind.
pub const UNFINISHED: &str = ".metadata.new";

/// The format of a trace's metadata.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// The Common Trace Format 1.8, which babeltrace2 reads from 2.0 on.
    #[default]
    Ctf1,
    /// The Common Trace Format 2, which babeltrace2 reads from 2.1 on.
    Ctf2,
}

impl Format {
    /// Every format.
    pub const ALL: [Format; 2] = [Format::Ctf1, Format::Ctf2];

    /// Its name: `ctf1.8` or `ctf2`.
    pub fn name(self) -> &'static str {
        match self {
            Format::Ctf1 => "ctf1.8",
            Format::Ctf2 => "ctf2",
        }
    }
}

impl Display for Format {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Description<'_> {
    /// Returns the text of the metadata in this format. It ends with a checksum of the text before it.
    ///
    /// ```
    /// use dyntrace_metadata::{ByteOrder, Clock, Description, Format, Value};
    ///
    /// let description = Description {
    ///     byte_order: ByteOrder::NATIVE,
    ///     uuid: [7; 16],
    ///     environment: vec![("procname", Value::Text("shop")), ("pid", Value::Number(12))],
    ///     clock: Clock { name: "tsc", frequency: 1_000_000_000, offset_seconds: 1_700_000_000, offset_cycles: 0 },
    ///     streams: Vec::new(),
    /// };
    /// assert!(description.text(Format::Ctf1).starts_with("/* CTF 1.8 */"));
    /// assert!(description.text(Format::Ctf2).starts_with("\u{1e}{\"type\":\"preamble\",\"version\":2,"));
    /// ```
    pub fn text(&self, format: Format) -> String {
        match format {
            Format::Ctf1 => tsdl::text(self),
            Format::Ctf2 => json::text(self),
        }
    }
}

/// Returns the problem with the checksum of a metadata text of either format; `None` if it is right.
pub fn checksum_problem(text: &str) -> Option<&'static str> {
    let parts = if is_ctf2(text) { json::checksum(text) } else { tsdl::checksum(text) };
    match parts.and_then(|(above, sum)| Some((above, u32::from_str_radix(sum, 16).ok()?))) {
        None => Some("its checksum is missing or damaged; what it says may be wrong"),
        Some((above, sum)) if sum != crc32fast::hash(above.as_bytes()) => {
            Some("its checksum is wrong; what it says may be wrong")
        }
        Some(_) => None,
    }
}

/// Whether a metadata text is that of CTF 2: a sequence of JSON texts begins with this character, and TSDL never does.
pub fn is_ctf2(text: &str) -> bool {
    text.starts_with(RECORD_SEPARATOR)
}
