//! Sequential trace tokens in recorded events.

use dyntrace_reader::{Event, Value};

/// The token that an event tells of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    /// What the trace is known by.
    pub label: i32,
    /// The number of the message before, and its own.
    pub serial: Serial,
}

/// The counts that tell messages of one trace from each other.
pub type Serial = (i32, i32);

impl Token {
    /// `None` where there is none, which probes say by zeros.
    pub fn of(event: &Event<'_>) -> Option<Token> {
        event.class.name.strip_prefix("dyntrace:")?;
        let count = |field| match event.field(field)? {
            Value::Signed(count) => i32::try_from(count).ok(),
            _ => None,
        };
        let (label, previous, current) = (count("token_label")?, count("token_previous")?, count("token_current")?);
        let token = Token { label, serial: (previous, current) };
        (token != Token { label: 0, serial: (0, 0) }).then_some(token)
    }
}
