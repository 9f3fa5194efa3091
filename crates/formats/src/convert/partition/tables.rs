//! The tables of a data set.

use dyntrace_fleet::{ColumnKind, Schema};

use super::columns::{Column, FIXED, TOKEN};
use super::{events, losses, messages, waits};
use crate::convert::parquet::{operations, tasks};

/// Counted up when a column changes or goes.
const VERSION: &str = "1";

pub type Schemas = [(&'static str, Schema); 6];

/// The names and the columns of all tables, each at the place of its number.
pub fn schemas() -> Schemas {
    let time = || [("time_ns".to_owned(), ColumnKind::Signed)].into_iter();
    let operations =
        time().chain(operations::columns()).chain(owned(&[("requester", ColumnKind::Text)])).chain(owned(&TOKEN));
    [
        ("events", schema("events", fixed(&events::COLUMNS), &["user_tag", "token_label"])),
        ("operations", schema("operations", operations.collect(), &["user_tag", "token_label", "path"])),
        ("tasks", schema("tasks", time().chain(tasks::columns()).collect(), &["user_tag"])),
        ("waits", schema("waits", fixed(&waits::COLUMNS), &["user_tag"])),
        ("messages", schema("messages", fixed(&messages::COLUMNS), &["token_label"])),
        ("losses", schema("losses", fixed(&losses::COLUMNS), &[])),
    ]
}

fn schema(name: &str, columns: Vec<(String, ColumnKind)>, looked_up: &'static [&'static str]) -> Schema {
    let metadata = vec![("dyntrace.schema", VERSION.to_owned()), ("dyntrace.table", name.to_owned())];
    Schema { columns, looked_up, metadata }
}

fn fixed(columns: &[Column]) -> Vec<(String, ColumnKind)> {
    owned(&FIXED).chain(owned(columns)).collect()
}

fn owned(columns: &[Column]) -> impl Iterator<Item = (String, ColumnKind)> {
    columns.iter().map(|(name, kind)| ((*name).to_owned(), *kind))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;
    use crate::clocks::table as clocks;

    /// With UPDATE_GOLDEN set, it writes the file.
    #[test]
    fn the_program_of_query_knows_the_columns() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../query/src/columns.txt");
        let tables = schemas().into_iter().chain([("clocks", clocks::schema())]);
        let lines = tables.flat_map(|(table, schema)| {
            schema.columns.into_iter().map(move |(name, kind)| format!("{table} {name} {}\n", kind.name()))
        });
        let columns: String = lines.collect();
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            fs::write(&path, &columns).unwrap();
        }
        assert!(
            fs::read_to_string(&path).unwrap() == columns,
            "crates/query/src/columns.txt has not the columns that convert writes: UPDATE_GOLDEN=1 writes it anew"
        );
    }
}
