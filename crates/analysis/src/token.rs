//! Sequential trace tokens in recorded events.

use dyntrace_reader::{Event, Value};

/// The token of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    pub label: i32,
    pub serial: Serial,
}

/// The previous and the current count, which identify a message of a trace.
pub type Serial = (i32, i32);

impl Token {
    /// `None` for an event without a token, whose fields are zeros.
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
