//! The files of the tables.

use dyntrace_fleet::{ColumnKind, Schema, Table};
use dyntrace_terminal::private::NewFile;

/// Counted up when a column changes or goes.
const VERSION: &str = "1";

/// A table with these columns in this new file.
pub(super) fn create(
    file: NewFile,
    columns: impl IntoIterator<Item = (String, ColumnKind)>,
) -> anyhow::Result<Table<NewFile>> {
    let metadata = vec![("dyntrace.version", VERSION.to_owned())];
    let schema = Schema { columns: columns.into_iter().collect(), looked_up: &[], metadata };
    Ok(Table::create(file, &schema)?)
}
