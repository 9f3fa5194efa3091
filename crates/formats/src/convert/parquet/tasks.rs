//! One row for each task or job. One that had not ended when the trace did has no exit.

use dyntrace_analysis::recorded_tasks::Task;
use dyntrace_analysis::view::process_name;
use dyntrace_fleet::{Cell, ColumnKind};

/// The columns in their order, with their values.
const COLUMNS: [(&str, ColumnKind, Get); 17] = [
    ("hostname", ColumnKind::Text, |task| Some(Cell::Text(task.process.hostname.as_str().into()))),
    ("process", ColumnKind::Text, |task| Some(Cell::Text(process_name(task.process).into()))),
    ("program", ColumnKind::Text, |task| Some(Cell::Text(task.process.name.as_str().into()))),
    ("pid", ColumnKind::Unsigned, |task| Some(Cell::Unsigned(task.process.pid))),
    ("proc", ColumnKind::Text, |task| text(&task.proc)),
    ("fun", ColumnKind::Text, |task| text(task.function)),
    ("parent", ColumnKind::Text, |task| text(&task.parent)),
    ("place", ColumnKind::Text, |task| text(task.place)),
    ("user_tag", ColumnKind::Text, |task| text(task.tag)),
    ("spawn_ns", ColumnKind::Signed, |task| task.spawned.map(Cell::Signed)),
    ("first_poll_ns", ColumnKind::Signed, |task| task.first_polled.map(Cell::Signed)),
    ("exit_ns", ColumnKind::Signed, |task| task.exit.map(|(time, _)| Cell::Signed(time))),
    ("reason", ColumnKind::Text, |task| task.exit.map(|(_, reason)| Cell::Text(reason.into()))),
    ("polls", ColumnKind::Unsigned, |task| Some(Cell::Unsigned(task.polls))),
    ("busy_ns", ColumnKind::Unsigned, |task| Some(Cell::Unsigned(task.busy))),
    ("longest_poll_ns", ColumnKind::Signed, |task| task.longest.map(|(polled, _)| Cell::Signed(polled))),
    ("longest_poll_at_ns", ColumnKind::Signed, |task| task.longest.map(|(_, begun)| Cell::Signed(begun))),
];

type Get = for<'r> fn(&'r Task<'_>) -> Option<Cell<'r>>;

pub fn columns() -> impl Iterator<Item = (String, ColumnKind)> {
    COLUMNS.iter().map(|(name, kind, _)| ((*name).to_owned(), *kind))
}

/// The values of its columns, by their places in [`columns`].
pub fn cells<'r>(task: &'r Task<'_>) -> impl Iterator<Item = (usize, Cell<'r>)> {
    COLUMNS.iter().enumerate().filter_map(|(column, (.., get))| Some((column, get(task)?)))
}

fn text(text: &[u8]) -> Option<Cell<'_>> {
    Some(Cell::Text(text.into())).filter(|_| !text.is_empty())
}
