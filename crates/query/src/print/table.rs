//! Aligned columns, for people.

use std::io::{self, Write};
use std::iter;

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
use dyntrace_terminal::escape;

use super::output::{Output, failure, texts};
use crate::exit::Failure;

pub struct Table<W: Write> {
    is_number: Vec<bool>,
    /// The first has the names.
    rows: Vec<Vec<String>>,
    writer: W,
}

impl<W: Write> Table<W> {
    pub fn new(columns: &SchemaRef, writer: W) -> Table<W> {
        let is_number = columns.fields().iter().map(|field| field.data_type().is_numeric()).collect();
        let names = columns.fields().iter().map(|field| lines(field.name())).collect();
        Table { is_number, rows: vec![names], writer }
    }

    fn print(&mut self) -> io::Result<()> {
        let width =
            |column: usize| self.rows.iter().flat_map(|row| row[column].lines()).map(|line| line.chars().count()).max();
        let widths: Vec<usize> = (0..self.is_number.len()).map(|column| width(column).unwrap_or(0)).collect();
        for row in &self.rows {
            // A cell of several lines, such as a plan, is a column of them.
            let height = row.iter().map(|cell| cell.lines().count()).max().unwrap_or(0);
            for at in 0..height {
                let cells = row.iter().map(|cell| cell.lines().nth(at).unwrap_or(""));
                let cells = iter::zip(cells, iter::zip(&widths, &self.is_number));
                let cells = cells.map(|(cell, (width, is_number))| match is_number {
                    true => format!("{cell:>width$}"),
                    false => format!("{cell:<width$}"),
                });
                writeln!(self.writer, "{}", cells.collect::<Vec<_>>().join("  ").trim_end())?;
            }
        }
        self.writer.flush()
    }
}

impl<W: Write> Output for Table<W> {
    fn add(&mut self, rows: &RecordBatch) -> Result<(), Failure> {
        let columns = rows.columns().iter().map(|column| texts(column, "null"));
        let columns = columns.collect::<Result<Vec<_>, _>>().map_err(failure)?;
        self.rows.extend((0..rows.num_rows()).map(|row| columns.iter().map(|column| lines(&column[row])).collect()));
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> Result<(), Failure> {
        self.print().map_err(|error| failure(error.into()))
    }
}

/// Returns the text with its lines. A tab is escaped, too, as it would move the columns.
fn lines(text: &str) -> String {
    text.split('\n').map(escape::name).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::lines;

    #[test]
    fn a_text_cannot_drive_the_terminal() {
        assert_eq!(lines("\x1b]0;owned\x07\r\nb\t\u{202e}c"), "\\x1b]0;owned\\x07\\x0d\nb\\x09\\u{202e}c");
    }
}
