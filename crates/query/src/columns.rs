//! The columns of the tables, as far as this version knows them.
//!
//! A test of the command `dyntrace` writes them to `columns.txt`, so they are those that `dyntrace convert` writes.

use std::sync::Arc;

use datafusion::arrow::datatypes::{DataType, Field, Fields, Schema};

/// A line for each column: table, name, kind.
const KNOWN: &str = include_str!("columns.txt");

/// Returns the names of the tables.
pub fn tables() -> impl Iterator<Item = &'static str> {
    let mut last = "";
    KNOWN
        .lines()
        .filter_map(|line| line.split(' ').next())
        .filter(move |table| std::mem::replace(&mut last, table) != *table)
}

/// Returns the known columns of a table, if there is such a table.
pub fn of(table: &str) -> Option<Schema> {
    let lines = KNOWN.lines().filter_map(|line| line.strip_prefix(table)?.strip_prefix(' ')?.split_once(' '));
    let fields: Fields = lines.map(|(name, kind)| Field::new(name, data_type(kind), true)).collect();
    (!fields.is_empty()).then(|| Schema::new(fields))
}

/// Returns the columns that come from the names of folders.
pub fn partitions() -> Vec<(String, DataType)> {
    [("host", DataType::Utf8), ("date", DataType::Date32), ("hour", DataType::Int64)]
        .map(|(name, kind)| (name.to_owned(), kind))
        .to_vec()
}

/// Returns the type by which the engine reads a column of this kind from Parquet.
fn data_type(kind: &str) -> DataType {
    match kind {
        "signed" => DataType::Int64,
        "unsigned" => DataType::UInt64,
        "bool" => DataType::Boolean,
        "double" => DataType::Float64,
        "text" => DataType::Utf8View,
        "map" => {
            let text = |name| Field::new(name, DataType::Utf8, false);
            let entry = DataType::Struct(Fields::from(vec![text("key"), text("value")]));
            DataType::Map(Arc::new(Field::new("key_value", entry, false)), false)
        }
        _ => unreachable!("columns.txt has no other kinds"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_tables_have_columns_of_known_kinds() {
        let tables: Vec<_> = tables().collect();
        assert_eq!(tables, ["events", "operations", "tasks", "waits", "messages", "losses", "clocks"]);
        for table in tables {
            assert!(of(table).is_some_and(|schema| schema.field_with_name("hostname").is_ok()), "{table}");
        }
        assert!(of("event").is_none());
    }
}
