//! One row for each loss, so that no query counts what is missing as nothing.

use dyntrace_fleet::{Cell, ColumnKind, Error, Loss, Tables};
use dyntrace_reader::{Process, Trace};
use dyntrace_terminal::escape;

use super::columns::{self, Column, LOSSES};

pub const COLUMNS: [Column; 6] = [
    ("kind", ColumnKind::Text),
    ("file", ColumnKind::Text),
    ("reason", ColumnKind::Text),
    ("offset", ColumnKind::Unsigned),
    ("bytes", ColumnKind::Unsigned),
    ("count", ColumnKind::Unsigned),
];

/// The kind of damaged places.
const DAMAGED: &str = "damaged";

/// The losses of a process that the trace has after it was read.
pub fn of(trace: &Trace, process: &Process) -> Vec<Loss> {
    let losses = trace.losses();
    let loss = |kind: &str, file: &std::path::Path, reason: &str| {
        let file = file.strip_prefix(&process.path).ok()?.to_string_lossy().into_owned();
        Some(Loss { kind: kind.to_owned(), file, reason: reason.to_owned(), ..Loss::default() })
    };
    let discarded = losses
        .discarded
        .iter()
        .filter_map(|ring| Some(Loss { count: Some(ring.count), ..loss("discarded", &ring.file, ring.reason())? }));
    let lost = losses.lost.iter();
    let lost =
        lost.filter_map(|lost| Some(Loss { count: Some(lost.count), ..loss("lost", &lost.file, &lost.reason)? }));
    let damaged = losses.damaged.iter().filter_map(|damage| {
        let (offset, bytes) = (Some(damage.offset), Some(damage.bytes));
        Some(Loss { offset, bytes, ..loss(DAMAGED, &damage.file, &damage.reason)? })
    });
    discarded.chain(lost).chain(damaged).collect()
}

/// Writes the row of a loss.
pub fn add(loss: &Loss, time: i64, process: &Process, to: &mut Tables<'_>) -> Result<(), Error> {
    let number = |number: Option<u64>| number.map(Cell::Unsigned);
    let own = [
        columns::text(loss.kind.as_str()),
        columns::text(loss.file.as_str()),
        columns::text(loss.reason.as_str()),
        number(loss.offset),
        number(loss.bytes),
        number(loss.count),
    ];
    to.row(LOSSES, time, columns::row(time, process, own))
}

/// A line about a loss of a process, for people.
pub fn line(loss: &Loss, process: &Process) -> String {
    let (file, reason) = (escape::path(process.path.join(&loss.file)), escape::name(&loss.reason));
    match (loss.count, loss.offset, loss.bytes.filter(|bytes| *bytes > 0)) {
        (Some(1), ..) => format!("1 event lost: {file}: {reason}"),
        (Some(count), ..) => format!("{count} events lost: {file}: {reason}"),
        (None, Some(offset), Some(bytes)) => {
            format!("damaged: {file} at byte {offset}: {reason}; {bytes} bytes were skipped")
        }
        (None, offset, _) => format!("damaged: {file} at byte {}: {reason}", offset.unwrap_or(0)),
    }
}

/// Whether the loss is a damaged place.
pub fn is_damage(loss: &Loss) -> bool {
    loss.kind == DAMAGED
}
