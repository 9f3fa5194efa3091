//! One row for each step of a message: sent, queued, received.

use dyntrace_analysis::render::operation::text;
use dyntrace_analysis::token::Token;
use dyntrace_fleet::{Cell, ColumnKind, Error, Tables};
use dyntrace_reader::{Event, Value};

use super::columns::{self, Column, MESSAGES, TOKEN};

pub const COLUMNS: [Column; 10] = [
    ("tid", ColumnKind::Unsigned),
    ("step", ColumnKind::Text),
    ("sender", ColumnKind::Text),
    ("node_name", ColumnKind::Text),
    ("receiver", ColumnKind::Text),
    ("size", ColumnKind::Unsigned),
    ("queue_len", ColumnKind::Unsigned),
    TOKEN[0],
    TOKEN[1],
    TOKEN[2],
];

/// Writes the row of an event, if it is of a message.
pub fn add(event: &Event<'_>, to: &mut Tables<'_>) -> Result<(), Error> {
    let step = match event.class.name.as_str() {
        "dyntrace:message-send" => "send",
        "dyntrace:message-send-remote" => "send_remote",
        "dyntrace:message-queued" => "queued",
        "dyntrace:message-receive" => "receive",
        _ => return Ok(()),
    };
    let of = |field| columns::text(text(event, field));
    let count = |field| match event.field(field) {
        Some(Value::Unsigned(count)) => Some(Cell::Unsigned(count)),
        _ => None,
    };
    let token = Token::of(event);
    let number = |get: fn(Token) -> i32| token.map(|token| Cell::Signed(get(token).into()));
    let own = [
        Some(Cell::Unsigned(event.tid)),
        Some(Cell::Text(step.into())),
        of("sender"),
        of("node_name"),
        of("receiver"),
        count("size"),
        count("queue_len"),
        number(|token| token.label),
        number(|token| token.serial.0),
        number(|token| token.serial.1),
    ];
    to.row(MESSAGES, event.time, columns::row(event.time, event.process, own))
}
