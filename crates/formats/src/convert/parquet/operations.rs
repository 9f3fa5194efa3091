//! One row for each operation of a driver.

use std::borrow::Cow;

use dyntrace_analysis::operation::{bytes, errno_name, name_of};
use dyntrace_analysis::view::process_name;
use dyntrace_fleet::{Cell, ColumnKind};
use dyntrace_reader::{FileOperation, Text};

/// The columns in their order, with their values.
const COLUMNS: [(&str, ColumnKind, Get); 38] = [
    ("hostname", ColumnKind::Text, |row| text(row.operation.process.hostname.as_bytes())),
    ("process", ColumnKind::Text, |row| text(process_name(row.operation.process))),
    ("program", ColumnKind::Text, |row| text(row.operation.process.name.as_bytes())),
    ("pid", ColumnKind::Unsigned, |row| Some(Cell::Unsigned(row.operation.process.pid))),
    ("driver", ColumnKind::Text, |row| text(row.operation.driver.as_bytes())),
    ("thread_id", ColumnKind::Signed, |row| signed(row.operation.id.thread)),
    ("tag", ColumnKind::Signed, |row| signed(row.operation.id.tag)),
    ("user_tag", ColumnKind::Text, |row| text(row.operation.request.user_tag)),
    ("command", ColumnKind::Signed, |row| signed(row.operation.request.command)),
    ("command_name", ColumnKind::Text, |row| text(row.command.as_bytes())),
    ("path", ColumnKind::Text, |row| text(row.operation.path).filter(|_| !row.operation.path.is_empty())),
    ("s1", ColumnKind::Text, |row| text(row.operation.request.strings[0])),
    ("s2", ColumnKind::Text, |row| text(row.operation.request.strings[1])),
    ("i1", ColumnKind::Signed, |row| signed(row.operation.request.integers[0])),
    ("i2", ColumnKind::Signed, |row| signed(row.operation.request.integers[1])),
    ("i3", ColumnKind::Signed, |row| signed(row.operation.request.integers[2])),
    ("i4", ColumnKind::Signed, |row| signed(row.operation.request.integers[3])),
    ("bytes", ColumnKind::Unsigned, |row| bytes(row.operation).map(Cell::Unsigned)),
    ("port", ColumnKind::Text, |row| text(row.operation.request.port)),
    ("entry_tid", ColumnKind::Unsigned, |row| Some(Cell::Unsigned(row.operation.submitter))),
    ("worker_tid", ColumnKind::Unsigned, |row| row.operation.worker.map(Cell::Unsigned)),
    ("return_tid", ColumnKind::Unsigned, |row| Some(Cell::Unsigned(row.operation.completion?.tid))),
    ("entry_ns", ColumnKind::Signed, |row| signed(row.operation.entered)),
    ("add_ns", ColumnKind::Signed, |row| signed(row.operation.added?.time)),
    ("add_queue_length", ColumnKind::Signed, |row| signed(row.operation.added?.length)),
    ("get_ns", ColumnKind::Signed, |row| signed(row.operation.taken?.time)),
    ("get_queue_length", ColumnKind::Signed, |row| signed(row.operation.taken?.length)),
    ("int_entry_ns", ColumnKind::Signed, |row| signed(row.operation.int_entry?)),
    ("int_return_ns", ColumnKind::Signed, |row| signed(row.operation.int_return?)),
    ("return_ns", ColumnKind::Signed, |row| signed(row.operation.completion?.time)),
    ("queue_wait_ns", ColumnKind::Signed, |row| signed(row.operation.queue_wait()?)),
    ("service_ns", ColumnKind::Signed, |row| signed(row.operation.service()?)),
    ("delivery_ns", ColumnKind::Signed, |row| signed(row.operation.delivery()?)),
    ("duration_ns", ColumnKind::Signed, |row| signed(row.operation.duration()?)),
    ("success", ColumnKind::Bool, |row| Some(Cell::Bool(row.operation.completion?.success))),
    ("errno", ColumnKind::Signed, |row| signed(row.operation.completion?.errno)),
    ("errno_name", ColumnKind::Text, |row| text(row.error.as_bytes()).filter(|_| !row.error.is_empty())),
    ("error", ColumnKind::Text, |row| text(row.operation.error).filter(|_| !row.operation.error.is_empty())),
];

type Get = for<'r> fn(&'r Row<'_>) -> Option<Cell<'r>>;

/// An operation, with the names of its numbers. One that was in flight at the end of the trace has no answer.
pub struct Row<'r> {
    operation: &'r FileOperation<'r>,
    command: Cow<'r, str>,
    error: Cow<'r, str>,
}

impl<'r> Row<'r> {
    pub fn of(operation: &'r FileOperation<'r>) -> Row<'r> {
        let error = operation.completion.map_or("".into(), |answer| errno_name(answer.errno));
        Row { operation, command: name_of(operation), error }
    }

    /// The values of its columns, by their places in [`columns`].
    pub fn cells(&self) -> impl Iterator<Item = (usize, Cell<'_>)> {
        COLUMNS.iter().enumerate().filter_map(|(column, (.., get))| Some((column, get(self)?)))
    }
}

pub fn columns() -> impl Iterator<Item = (String, ColumnKind)> {
    COLUMNS.iter().map(|(name, kind, _)| ((*name).to_owned(), *kind))
}

fn text<'c>(text: impl Into<Text<'c>>) -> Option<Cell<'c>> {
    Some(Cell::Text(text.into()))
}

fn signed<'c>(number: impl Into<i64>) -> Option<Cell<'c>> {
    Some(Cell::Signed(number.into()))
}
