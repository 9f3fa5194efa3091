//! The description of a trace.

use std::borrow::Cow;

use super::byte_order::ByteOrder;
use super::naming::Naming;

/// The trace of one process, as its metadata describes it.
#[derive(Clone, Debug)]
pub struct Description<'a> {
    /// The order of the bytes of each number.
    pub byte_order: ByteOrder,
    /// The trace's uuid, which each packet contains.
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

/// Converts cycles to time: cycle `c` was at `offset_seconds + (offset_cycles + c) / frequency` seconds since 1970.
#[derive(Clone, Copy, Debug)]
pub struct Clock<'a> {
    /// Its name, which is an identifier.
    pub name: &'a str,
    /// Cycles per second; not zero.
    pub frequency: u64,
    /// The whole seconds of its offset.
    pub offset_seconds: i64,
    /// The remainder of its offset, in cycles.
    pub offset_cycles: u64,
}

/// A class of streams.
#[derive(Clone, Debug)]
pub struct Stream<'a> {
    /// Its number.
    pub id: u32,
    /// Whether packets have a ring's number and a checksum. Those of the recorder's first version have neither.
    pub checksums: bool,
    /// Whether events have the headers of [`event_header`](crate::event_header), else an id of 16 bits and a time of 64.
    pub compact: bool,
    /// The classes of its events.
    pub events: Vec<Event<'a>>,
}

/// A class of events.
#[derive(Clone, Debug)]
pub struct Event<'a> {
    /// Its number in the class of streams.
    pub id: u16,
    /// Its full name, such as `dyntrace:efile_drv-entry`.
    pub name: Cow<'a, str>,
    /// Names and kinds of its fields.
    pub fields: Vec<(&'a str, FieldKind)>,
}

/// The type of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldKind {
    /// A signed integer.
    Signed {
        /// Its size: 8, 16, 24, 32 or 64.
        bits: u8,
    },
    /// An unsigned integer.
    Unsigned {
        /// Its size: 8, 16, 24, 32 or 64.
        bits: u8,
    },
    /// A string.
    Text,
    /// The number in a name: an unsigned integer of [`Naming::BITS`] bits, for which readers show the name.
    Name(Naming),
}

/// The character before each JSON text of a sequence.
pub const RECORD_SEPARATOR: char = '\u{1e}';

/// The last field of a packet's context: an array of no times, which takes no bytes.
///
/// Packets have no times. babeltrace2 2.1 aborts on such packets if their streams have a clock. With this field it does not, and uses the
/// clock as both specifications say.
pub const TIMES: &str = "times";

/// Names of the fields of a packet's context before [`TIMES`], 64 bits each.
pub const CONTEXT: [&str; 7] =
    ["content_size", "packet_size", "events_discarded", "sequence", "tid", "ring", "checksum"];

impl Stream<'_> {
    /// Names of the fields of its packets' contexts.
    pub(super) fn context(&self) -> &'static [&'static str] {
        if self.checksums { &CONTEXT } else { &CONTEXT[..5] }
    }
}
