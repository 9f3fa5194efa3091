//! A Parquet file, written in row groups, so memory does not grow with the table.

use std::io::Write;
use std::sync::Arc;

use parquet::errors::Result;
use parquet::file::writer::SerializedFileWriter;

use crate::schema::{ROWS, Schema};
use crate::values::{Cell, Column};

/// The most bytes of text of a row group.
const TEXT: usize = 32 << 20;

/// Writes a table.
pub struct Table<W: Write + Send> {
    file: SerializedFileWriter<W>,
    columns: Vec<Column>,
    rows: usize,
    text: usize,
}

impl<W: Write + Send> Table<W> {
    /// Begins a table in this new file.
    ///
    /// # Errors
    ///
    /// If the file cannot be written, or two columns have one name.
    pub fn create(file: W, schema: &Schema) -> Result<Table<W>> {
        let columns = schema.columns.iter().map(|(_, kind)| Column::of(*kind)).collect();
        let file = SerializedFileWriter::new(file, schema.of_file()?, Arc::new(schema.properties()))?;
        Ok(Table { file, columns, rows: 0, text: 0 })
    }

    /// Appends a row: each column gets at most one cell, by its number; the others are null.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    ///
    /// # Panics
    ///
    /// If a cell has not the kind of its column.
    pub fn row<'c>(&mut self, cells: impl IntoIterator<Item = (usize, Cell<'c>)>) -> Result<()> {
        for (column, cell) in cells {
            self.text += self.columns[column].push(cell);
        }
        self.rows += 1;
        for column in &mut self.columns {
            column.end_row(self.rows);
        }
        if self.rows >= ROWS || self.text >= TEXT { self.flush() } else { Ok(()) }
    }

    /// Writes the last row group and the end of the file.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub fn finish(mut self) -> Result<W> {
        if self.rows > 0 {
            self.flush()?;
        }
        self.file.into_inner()
    }

    fn flush(&mut self) -> Result<()> {
        let mut group = self.file.next_row_group()?;
        for column in &mut self.columns {
            for leaf in 0..column.leaves() {
                let mut writer = group.next_column()?.expect("the schema has all columns");
                column.write(leaf, writer.untyped())?;
                writer.close()?;
            }
            column.clear();
        }
        group.close()?;
        (self.rows, self.text) = (0, 0);
        Ok(())
    }
}
