//! A token and its parts.

use std::fmt;
use std::sync::Arc;

/// The label of a sequential trace. In Erlang it is any term, here usually a number.
#[derive(Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Label {
    /// A number. Tracers see it if it fits into 32 bits; for all other labels they see [`Label::UNSHOWN`].
    Integer(i64),
    /// A text, which is a binary in Erlang.
    Text(Arc<str>),
    /// A term of another node, in Erlang's external term format, without the version byte.
    Term(Arc<[u8]>),
}

impl Label {
    /// The value that probes show for a label that is not a 32-bit integer, as in Erlang.
    pub const UNSHOWN: i32 = i32::MIN;

    /// Returns the label as probes show it.
    pub fn shown(&self) -> i32 {
        match self {
            Label::Integer(number) => i32::try_from(*number).unwrap_or(Label::UNSHOWN),
            Label::Text(_) | Label::Term(_) => Label::UNSHOWN,
        }
    }

    /// Whether it is not a 32-bit number, so that it goes beside a packed token.
    pub(super) fn is_unpacked(&self) -> bool {
        !matches!(self, Label::Integer(number) if i32::try_from(*number).is_ok())
    }
}

impl fmt::Debug for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Label::Integer(number) => number.fmt(f),
            Label::Text(text) => text.fmt(f),
            Label::Term(bytes) => write!(f, "Term({bytes:02x?})"),
        }
    }
}

impl From<i32> for Label {
    fn from(number: i32) -> Label {
        Label::Integer(number.into())
    }
}

impl From<i64> for Label {
    fn from(number: i64) -> Label {
        Label::Integer(number)
    }
}

impl From<&str> for Label {
    fn from(text: &str) -> Label {
        Label::Text(text.into())
    }
}

bitflags::bitflags! {
    /// The events of a trace that system tracers of Erlang nodes report. The token carries the flags; their numbers are Erlang's.
    ///
    /// Probes fire whatever the flags are, as in Erlang. [`SEND`](Flags::SEND), [`RECEIVE`](Flags::RECEIVE) and the timestamps are
    /// for the system tracers of Erlang nodes that the token reaches. [`PRINT`](Flags::PRINT) is for
    /// [`print`](crate::seq_trace::print) as well.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct Flags: u8 {
        /// Sent messages.
        const SEND = 1;
        /// Received messages.
        const RECEIVE = 2;
        /// Texts of [`print`](crate::seq_trace::print).
        const PRINT = 4;
        /// With the time, as `erlang:now()` has it.
        const TIMESTAMP = 8;
        /// With a monotonic time and a number that makes it unique.
        const STRICT_MONOTONIC_TIMESTAMP = 16;
        /// With a monotonic time.
        const MONOTONIC_TIMESTAMP = 32;
    }
}

/// The place of a message in its trace: its own count, and the count of the message that its sender had received last. So the
/// messages of one label form a tree: each is below the message whose count is its `previous`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Serial {
    /// The count of the message before, 0 if there was none.
    pub previous: u32,
    /// The count of this message.
    pub current: u32,
}

/// A sequential trace token: a process has it while it works for a trace, and its messages carry it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Token {
    /// The trace.
    pub label: Label,
    /// The place in the trace.
    pub serial: Serial,
    /// The events that system tracers report.
    pub flags: Flags,
}

impl Token {
    /// Returns the arguments of probes: label, previous and current count; zeros without a token.
    pub fn shown(token: Option<&Token>) -> (i32, i32, i32) {
        token.map_or((0, 0, 0), |Token { label, serial, .. }| {
            (label.shown(), serial.previous.cast_signed(), serial.current.cast_signed())
        })
    }
}
