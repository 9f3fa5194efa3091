//! Answers of processes, as tables and as JSON.

use dyntrace::recorder::control::protocol::Record;
use dyntrace_terminal::columns::aligned;
use dyntrace_terminal::escape;
use serde_json::{Map, Value};

/// A table of the fields of `records`, with their names as titles.
pub fn table<'r, const N: usize>(
    names: [&str; N],
    records: impl Iterator<Item = &'r Record>,
    is_number: impl Fn(usize) -> bool,
) -> String {
    let row = |record: &Record| names.map(|name| record.get(name).map(escape::name).unwrap_or_default());
    let rows: Vec<_> = std::iter::once(names.map(str::to_uppercase)).chain(records.map(row)).collect();
    aligned(&rows, is_number).join("\n") + "\n"
}

/// A field of an event in JSON: its name, that in the protocol, and whether it is a number.
pub type Field = (&'static str, &'static str, bool);

/// The fields of an event. Those that it does not have are left out.
pub fn object(event: &Record, fields: &[Field]) -> Map<String, Value> {
    let field = |(name, told, is_number): &Field| {
        let value = if *is_number { event.number(told).map(Value::from) } else { event.get(told).map(Value::from) };
        Some(((*name).to_owned(), value?))
    };
    fields.iter().filter_map(field).collect()
}
