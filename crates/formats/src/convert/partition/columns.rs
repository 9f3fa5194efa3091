//! The numbers of the tables of a data set, and the columns that several of them have.

use dyntrace_analysis::view::process_name;
use dyntrace_fleet::{Cell, ColumnKind};
use dyntrace_reader::Process;

/// The tables by their numbers.
pub const EVENTS: usize = 0;
pub const OPERATIONS: usize = 1;
pub const TASKS: usize = 2;
pub const WAITS: usize = 3;
pub const MESSAGES: usize = 4;
pub const LOSSES: usize = 5;

/// A column with a name that is known when this is compiled.
pub type Column = (&'static str, ColumnKind);

/// The columns of every table, before its own.
pub(super) const FIXED: [Column; 5] = [
    ("time_ns", ColumnKind::Signed),
    ("hostname", ColumnKind::Text),
    ("process", ColumnKind::Text),
    ("program", ColumnKind::Text),
    ("pid", ColumnKind::Unsigned),
];

/// The columns of a sequential trace token.
pub const TOKEN: [Column; 3] = [
    ("token_label", ColumnKind::Signed),
    ("token_previous", ColumnKind::Signed),
    ("token_current", ColumnKind::Signed),
];

/// The cells of a row: those of every table, and then its own, which may be null.
pub fn row<'c>(
    time: i64,
    process: &'c Process,
    own: impl IntoIterator<Item = Option<Cell<'c>>>,
) -> impl Iterator<Item = (usize, Cell<'c>)> {
    let fixed = [
        Cell::Signed(time),
        Cell::Text(process.hostname.as_str().into()),
        Cell::Text(process_name(process).into()),
        Cell::Text(process.name.as_str().into()),
        Cell::Unsigned(process.pid),
    ];
    let cells = fixed.into_iter().map(Some).chain(own);
    cells.enumerate().filter_map(|(column, cell)| Some((column, cell?)))
}

/// A text, or null if it is empty.
pub fn text<'c>(text: impl Into<dyntrace_reader::Text<'c>>) -> Option<Cell<'c>> {
    let text = text.into();
    (!text.is_empty()).then_some(Cell::Text(text))
}
