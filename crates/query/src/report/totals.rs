//! The size of a data set.

use super::rows::{Cell, Rows};
use crate::columns;

/// Asks for the number of hosts, and of operations that failed or have no answer.
pub const SQL: &str = include_str!("totals.sql");

/// Returns the query for the rows of a table, and their first and last times. The engine answers most of it from the ends of files.
pub fn of_table(table: &str) -> String {
    let has_times = columns::of(table).is_some_and(|columns| columns.field_with_name("time_ns").is_ok());
    let times = match has_times {
        true => ", min(time_ns) AS first_ns, max(time_ns) AS last_ns",
        false => "",
    };
    format!("SELECT count(*) AS all_rows{times} FROM {table}")
}

/// The size of a data set.
pub struct Totals {
    /// The number of rows of each table, if the table can be read.
    tables: Vec<(&'static str, Option<i128>)>,
    pub hosts: i128,
    pub failed: i128,
    pub unanswered: i128,
    /// The first and the last time, in nanoseconds since 1970.
    pub span: Option<(i128, i128)>,
}

impl Totals {
    /// Takes the answers to `of_table` for each table that can be read, and to `SQL`.
    pub fn new(tables: &[(&'static str, Option<Rows>)], totals: &Rows) -> Totals {
        let cell = |rows: &Rows, column| rows.rows.first().map(|row| rows.cell(row, column).clone());
        let times = |column: &'static str| {
            tables.iter().filter_map(move |(_, rows)| match cell(rows.as_ref()?, column) {
                Some(Cell::Integer(time)) => Some(time),
                _ => None,
            })
        };
        let number = |rows: &Option<Rows>| rows.as_ref().map(|rows| rows.sum("all_rows"));
        Totals {
            tables: tables.iter().map(|(table, rows)| (*table, number(rows))).collect(),
            hosts: totals.sum("hosts"),
            failed: totals.sum("failed"),
            unanswered: totals.sum("unanswered"),
            span: times("first_ns").min().zip(times("last_ns").max()),
        }
    }

    /// Returns the number of rows of a table. A table that cannot be read has none.
    pub fn rows_of(&self, table: &str) -> Option<i128> {
        self.tables.iter().find(|(name, _)| *name == table).and_then(|(_, rows)| *rows)
    }

    /// Returns the names of the tables with this number of rows.
    pub fn with(&self, rows: Option<i128>) -> Vec<&'static str> {
        self.tables.iter().filter(|(_, number)| *number == rows).map(|(name, _)| *name).collect()
    }
}
