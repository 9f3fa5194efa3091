//! Reads columns of a Parquet file by their names.

use std::fs::File;
use std::path::Path;

use dyntrace_folders::open_regular;
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, DataType};
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{FileReader as _, RowGroupReader, SerializedFileReader};

use crate::error::Error;
use crate::schema::ColumnKind;
use crate::values::Cell;

/// The most rows that are in memory.
const AT_ONCE: usize = 1 << 13;

/// Reads these columns of a table's file, and calls `row` with the cells of each row in their order. A column that the file does not have
/// is null. Columns are of the kinds [`Signed`](ColumnKind::Signed), [`Unsigned`](ColumnKind::Unsigned), [`Text`](ColumnKind::Text) and
/// [`Double`](ColumnKind::Double).
///
/// # Errors
///
/// If the file cannot be read, is damaged, or a column has another kind. `row` may have been called before.
pub fn read_rows(
    path: &Path,
    columns: &[(&str, ColumnKind)],
    mut row: impl FnMut(&[Option<Cell<'_>>]),
) -> Result<(), Error> {
    let file = open_regular(path).map_err(Error::io("open the table", path))?;
    read(file, columns, &mut row).map_err(Error::read(path))
}

fn read(file: File, columns: &[(&str, ColumnKind)], row: &mut impl FnMut(&[Option<Cell<'_>>])) -> Result<()> {
    let reader = SerializedFileReader::new(file)?;
    for group in 0..reader.num_row_groups() {
        let group = reader.get_row_group(group)?;
        let mut columns = columns.iter().map(|column| Column::open(&*group, column)).collect::<Result<Vec<_>>>()?;
        let mut left =
            usize::try_from(group.metadata().num_rows()).map_err(|_| damaged("a negative number of rows"))?;
        while left > 0 {
            let count = left.min(AT_ONCE);
            columns.iter_mut().try_for_each(|column| column.read(count))?;
            for at in 0..count {
                let cells: Vec<_> = columns.iter_mut().map(|column| column.next(at)).collect();
                row(&cells);
            }
            left -= count;
        }
    }
    Ok(())
}

/// A column of a row group, and its next values.
struct Column {
    values: Values,
    kind: ColumnKind,
    /// For each of the rows in memory, whether it has a value. Empty if all have.
    levels: Vec<i16>,
    /// The number of values that were taken.
    taken: usize,
}

enum Values {
    Missing,
    Long(ColumnReaderImpl<parquet::data_type::Int64Type>, Vec<i64>),
    Double(ColumnReaderImpl<parquet::data_type::DoubleType>, Vec<f64>),
    Text(ColumnReaderImpl<parquet::data_type::ByteArrayType>, Vec<ByteArray>),
}

impl Column {
    fn open(group: &dyn RowGroupReader, (name, kind): &(&str, ColumnKind)) -> Result<Column> {
        let schema = group.metadata().schema_descr_ptr();
        let found = schema.columns().iter().position(|column| column.path().parts() == [*name]);
        let values = match found {
            None => Values::Missing,
            Some(at) if schema.column(at).max_def_level() > 1 || schema.column(at).max_rep_level() > 0 => {
                return Err(damaged(&format!("the column {name} is nested")));
            }
            Some(at) => match (group.get_column_reader(at)?, kind) {
                (ColumnReader::Int64ColumnReader(reader), ColumnKind::Signed | ColumnKind::Unsigned) => {
                    Values::Long(reader, Vec::new())
                }
                (ColumnReader::DoubleColumnReader(reader), ColumnKind::Double) => Values::Double(reader, Vec::new()),
                (ColumnReader::ByteArrayColumnReader(reader), ColumnKind::Text) => Values::Text(reader, Vec::new()),
                _ => return Err(damaged(&format!("the column {name} is not of the kind {}", kind.name()))),
            },
        };
        Ok(Column { values, kind: *kind, levels: Vec::new(), taken: 0 })
    }

    /// Reads the values of the next rows.
    fn read(&mut self, count: usize) -> Result<()> {
        self.taken = 0;
        match &mut self.values {
            Values::Missing => Ok(()),
            Values::Long(reader, values) => fill(reader, values, &mut self.levels, count),
            Values::Double(reader, values) => fill(reader, values, &mut self.levels, count),
            Values::Text(reader, values) => fill(reader, values, &mut self.levels, count),
        }
    }

    /// The value of the next row, which is this one of those in memory.
    fn next(&mut self, row: usize) -> Option<Cell<'_>> {
        if self.levels.get(row) == Some(&0) {
            return None;
        }
        let at = self.taken;
        self.taken += 1;
        match &self.values {
            Values::Missing => None,
            Values::Long(_, values) => values.get(at).map(|value| match self.kind {
                ColumnKind::Unsigned => Cell::Unsigned(value.cast_unsigned()),
                _ => Cell::Signed(*value),
            }),
            Values::Double(_, values) => values.get(at).map(|value| Cell::Double(*value)),
            Values::Text(_, values) => values.get(at).map(|value| Cell::Text(value.data().into())),
        }
    }
}

fn fill<T: DataType>(
    reader: &mut ColumnReaderImpl<T>,
    values: &mut Vec<T::T>,
    levels: &mut Vec<i16>,
    count: usize,
) -> Result<()> {
    values.clear();
    levels.clear();
    let (records, ..) = reader.read_records(count, Some(levels), None, values)?;
    if records == count { Ok(()) } else { Err(damaged("a column has fewer values than rows")) }
}

fn damaged(problem: &str) -> ParquetError {
    ParquetError::General(problem.to_owned())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::schema::Schema;
    use crate::table::Table;

    /// A table with many rows; every third one has no text.
    fn table(rows: i64) -> Vec<u8> {
        let columns = [("number", ColumnKind::Signed), ("text", ColumnKind::Text), ("map", ColumnKind::Map)];
        let columns = columns.map(|(name, kind)| (name.to_owned(), kind)).into();
        let mut table = Table::create(Vec::new(), &Schema { columns, ..Schema::default() }).unwrap();
        for number in 0..rows {
            let text = format!("text {}", number % 50);
            let text = (number % 3 != 0).then_some((1, Cell::Text(text.as_str().into())));
            table.row([(0, Cell::Signed(number))].into_iter().chain(text)).unwrap();
        }
        table.finish().unwrap()
    }

    fn rows(path: &Path, columns: &[(&str, ColumnKind)]) -> Result<Vec<String>, Error> {
        let mut rows = Vec::new();
        read_rows(path, columns, |row| {
            let cells = row.iter().map(|cell| match cell {
                None => "-".to_owned(),
                Some(Cell::Signed(number)) => number.to_string(),
                Some(Cell::Text(text)) => String::from_utf8_lossy(text).into_owned(),
                other => panic!("{other:?}"),
            });
            rows.push(cells.collect::<Vec<_>>().join(" "));
        })?;
        Ok(rows)
    }

    #[test]
    fn columns_are_found_by_name_and_may_be_missing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("table");
        fs::write(&path, table(20_000)).unwrap();
        let columns = [("text", ColumnKind::Text), ("other", ColumnKind::Signed), ("number", ColumnKind::Signed)];
        let rows = rows(&path, &columns).unwrap();
        let expected = (0..20_000).map(|number| match number % 3 {
            0 => format!("- - {number}"),
            _ => format!("text {} - {number}", number % 50),
        });
        assert!(rows.into_iter().eq(expected));
    }

    #[test]
    fn damaged_and_other_tables_are_errors() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("table");
        let said = |columns: &[(&str, ColumnKind)]| rows(&path, columns).unwrap_err().to_string();
        assert!(said(&[]).contains("cannot open the table"), "{}", said(&[]));
        let bytes = table(500);
        fs::write(&path, &bytes).unwrap();
        assert!(said(&[("text", ColumnKind::Signed)]).contains("the column text is not of the kind signed"));
        for length in (0..bytes.len()).step_by(41) {
            fs::write(&path, &bytes[..length]).unwrap();
            assert!(said(&[("number", ColumnKind::Signed)]).contains("cannot read the table"), "{length}");
        }
        for at in (0..bytes.len()).step_by(13) {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0xff;
            fs::write(&path, damaged).unwrap();
            // Not all damage can be found, and none may panic.
            let _ = rows(&path, &[("number", ColumnKind::Signed), ("text", ColumnKind::Text)]);
        }
    }
}
