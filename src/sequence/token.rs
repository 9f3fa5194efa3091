//! What travels: the token, and what it is made of.

use std::fmt;
use std::sync::Arc;

/// What a sequential trace is known by: any Erlang term in Erlang, here most often a number.
#[derive(Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Label {
    /// A number. One of 32 bits is what tracers see; they see [`Label::UNSHOWN`] for all other labels.
    Integer(i64),
    /// A text: a binary to Erlang.
    Text(Arc<str>),
    /// A term of another node, as it came: in Erlang's external term format, without the byte of the version.
    Term(Arc<[u8]>),
}

impl Label {
    /// What probes show for a label that is no 32-bit integer, as Erlang's do.
    pub const UNSHOWN: i32 = i32::MIN;

    /// The label as probes show it.
    pub fn shown(&self) -> i32 {
        match self {
            Label::Integer(number) => i32::try_from(*number).unwrap_or(Label::UNSHOWN),
            Label::Text(_) | Label::Term(_) => Label::UNSHOWN,
        }
    }

    /// Whether it is no number of 32 bits, so that it goes beside a packed token.
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
    /// What of a sequential trace is to be told. They travel with the token; the numbers are Erlang's.
    ///
    /// Probes fire whatever the flags say, as Erlang's do: [`SEND`](Flags::SEND), [`RECEIVE`](Flags::RECEIVE) and the
    /// times are for the system tracers of Erlang nodes that the token comes to, [`PRINT`](Flags::PRINT) is for
    /// [`print`](crate::seq_trace::print) as well.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct Flags: u8 {
        /// Messages that are sent.
        const SEND = 1;
        /// Messages that are received.
        const RECEIVE = 2;
        /// What [`print`](crate::seq_trace::print) says.
        const PRINT = 4;
        /// With the time, as `erlang:now()` has it.
        const TIMESTAMP = 8;
        /// With a monotonic time and a number that makes it unique.
        const STRICT_MONOTONIC_TIMESTAMP = 16;
        /// With a monotonic time.
        const MONOTONIC_TIMESTAMP = 32;
    }
}

/// The place of a message in its sequential trace: its own count, and that of the message that its sender had received
/// last. So messages with one label form a tree, each under the one whose count is its `previous`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Serial {
    /// The count of the message before, 0 if there was none.
    pub previous: u32,
    /// The count of this message.
    pub current: u32,
}

/// A sequential trace token: what a process has while it works for the trace, and what its messages carry.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Token {
    /// Which trace it is.
    pub label: Label,
    /// Where in it this is.
    pub serial: Serial,
    /// What is to be told.
    pub flags: Flags,
}

impl Token {
    /// What probes show: label, previous and current count, and zeros where there is no token.
    pub fn shown(token: Option<&Token>) -> (i32, i32, i32) {
        token.map_or((0, 0, 0), |Token { label, serial, .. }| {
            (label.shown(), serial.previous.cast_signed(), serial.current.cast_signed())
        })
    }
}
