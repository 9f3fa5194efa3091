//! Tables of what processes answer.

use dyntrace::recorder::control::protocol::Record;
use dyntrace_terminal::columns::aligned;
use dyntrace_terminal::escape;

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
