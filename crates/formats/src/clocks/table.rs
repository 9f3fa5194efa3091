//! The table `clocks` of a data set.

use std::path::Path;

use dyntrace_fleet::clocks::Piece;
use dyntrace_fleet::{Cell, ColumnKind, Error, Schema, SingleTable};

use super::read::ClockInputs;
use super::solve::Solved;

const NAME: &str = "clocks";
/// Counted up when a column changes or goes.
const VERSION: &str = "1";

const COLUMNS: [(&str, ColumnKind); 7] = [
    ("hostname", ColumnKind::Text),
    ("reference", ColumnKind::Text),
    ("from_ns", ColumnKind::Signed),
    ("until_ns", ColumnKind::Signed),
    ("ahead_ns", ColumnKind::Signed),
    ("drift", ColumnKind::Double),
    ("error_ns", ColumnKind::Signed),
];

/// The columns of the table.
pub fn schema() -> Schema {
    let columns = COLUMNS.iter().map(|(name, kind)| ((*name).to_owned(), *kind)).collect();
    let metadata = vec![("dyntrace.schema", VERSION.to_owned()), ("dyntrace.table", NAME.to_owned())];
    Schema { columns, looked_up: &[], metadata }
}

/// Creates the table without rows, unless it is there, so that engines find it in each data set.
pub fn begin(folder: &Path, mode: u32) -> Result<(), Error> {
    SingleTable::of(folder, NAME, &schema(), mode).begin()
}

/// Replaces the table.
pub fn write(folder: &Path, found: &ClockInputs, solved: &Solved) -> Result<(), Error> {
    let reference = &*found.hosts[solved.reference];
    let hosts = found.hosts.iter().enumerate();
    let rows = hosts.flat_map(|(number, name)| {
        solved.alignment.pieces(number).iter().map(move |piece| row(name, reference, piece))
    });
    SingleTable::of(folder, NAME, &schema(), found.mode).replace(&rows.collect::<Vec<_>>())
}

fn row<'r>(hostname: &'r str, reference: &'r str, piece: &Piece) -> Vec<Option<Cell<'r>>> {
    let Piece { from, until, ahead, drift, error } = *piece;
    vec![
        Some(Cell::Text(hostname.into())),
        Some(Cell::Text(reference.into())),
        Some(Cell::Signed(from)),
        Some(Cell::Signed(until)),
        Some(Cell::Signed(ahead)),
        Some(Cell::Double(drift)),
        error.map(Cell::Signed),
    ]
}
