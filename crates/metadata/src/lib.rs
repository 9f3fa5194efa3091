//! The metadata of dyntrace's traces, written as text of CTF 1.8 or of CTF 2.
//!
//! Both formats describe the same bytes, so a trace's files of events do not depend on the format: only its file `metadata` does. The
//! recorder writes the text of a recording, and `dyntrace-reader` that of a trace it converts.
//!
//! CTF 1.8's text is TSDL, a language of its own. CTF 2's is a sequence of JSON texts (RFC 7464), one line each.

mod byte_order;
mod json;
mod tsdl;

use std::borrow::Cow;
use std::fmt::{self, Display, Formatter};

pub use byte_order::ByteOrder;

/// The format of a trace: how its metadata says what its bytes are.
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

/// The trace of one process, as its metadata describes it.
#[derive(Clone, Debug)]
pub struct Description<'a> {
    /// The order of the bytes of each number.
    pub byte_order: ByteOrder,
    /// The trace's own; each of its packets has it.
    pub uuid: [u8; 16],
    /// Facts about the process and its recorder.
    pub environment: Vec<(&'a str, Value<'a>)>,
    /// The clock of all times.
    pub clock: Clock<'a>,
    /// The classes of streams.
    pub streams: Vec<Stream<'a>>,
}

/// A fact of the environment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value<'a> {
    /// A number.
    Number(i128),
    /// A string.
    Text(&'a str),
}

/// How cycles become time: cycle `c` was at `offset_seconds + (offset_cycles + c) / frequency` seconds since 1970.
#[derive(Clone, Copy, Debug)]
pub struct Clock<'a> {
    /// Its name, which is an identifier.
    pub name: &'a str,
    /// Cycles per second; not zero.
    pub frequency: u64,
    /// The whole seconds of its offset.
    pub offset_seconds: i64,
    /// The rest of its offset, in cycles.
    pub offset_cycles: u64,
}

/// A class of streams.
#[derive(Clone, Debug)]
pub struct Stream<'a> {
    /// Its number.
    pub id: u32,
    /// Whether packets have a ring's number and a checksum: those of the recorder's first version have neither.
    pub checksums: bool,
    /// The classes of its events.
    pub events: Vec<Event<'a>>,
}

/// A class of events.
#[derive(Clone, Debug)]
pub struct Event<'a> {
    /// Its number in the class of streams.
    pub id: u16,
    /// Its whole name, as `dyntrace:efile_drv-entry`.
    pub name: Cow<'a, str>,
    /// Names and kinds of its fields.
    pub fields: Vec<(&'a str, FieldKind)>,
}

/// What a field holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldKind {
    /// A signed integer.
    Signed {
        /// Its size: 8, 16, 32 or 64.
        bits: u8,
    },
    /// An unsigned integer.
    Unsigned {
        /// Its size: 8, 16, 32 or 64.
        bits: u8,
    },
    /// A string.
    Text,
}

impl Description<'_> {
    /// Returns the text of the metadata in this format. Its end holds a checksum of all that is before it.
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

/// Returns what is wrong with the checksum at the end of a metadata text of either format; `None` if it is right.
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

/// The character before each JSON text of a sequence.
pub const RECORD_SEPARATOR: char = '\u{1e}';

/// The last field of a packet's context: an array of no times, which takes no bytes.
///
/// Packets bear no time of their own. babeltrace2 2.1 aborts on packets of such a class if their streams have a clock, and so it is told
/// of times that packets may have. It then takes the clock as it is, which is what both specifications say.
pub const TIMES: &str = "times";

/// Names of the fields of a packet's context before [`TIMES`], 64 bits each.
pub const CONTEXT: [&str; 7] =
    ["content_size", "packet_size", "events_discarded", "sequence", "tid", "ring", "checksum"];

impl Stream<'_> {
    /// Names of the fields of its packets' contexts.
    fn context(&self) -> &'static [&'static str] {
        if self.checksums { &CONTEXT } else { &CONTEXT[..5] }
    }
}

/// A UUID in its usual form.
struct Uuid<'a>(&'a [u8; 16]);

impl Display for Uuid<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (i, byte) in self.0.iter().enumerate() {
            let dash = if matches!(i, 4 | 6 | 8 | 10) { "-" } else { "" };
            write!(f, "{dash}{byte:02x}")?;
        }
        Ok(())
    }
}
