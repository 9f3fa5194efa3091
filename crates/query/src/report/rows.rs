//! An answer in memory, as far as a page can use it.

use anyhow::Context as _;
use datafusion::arrow::array::{Array as _, ArrayRef, AsArray as _, RecordBatch};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Decimal128Type, Float64Type, Int64Type, UInt64Type};
use datafusion::execution::SendableRecordBatchStream;
use futures::StreamExt as _;

use crate::exit::{Failure, of_engine};
use crate::print;

/// The most rows that stay in memory. The others are counted.
const KEPT: usize = 1000;

/// A value of an answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    Null,
    Integer(i128),
    Number(f64),
    Text(String),
}

/// The first rows of an answer, and the number of all.
#[derive(Debug, Default)]
pub struct Rows {
    pub columns: Vec<String>,
    pub rows: Vec<Vec<Cell>>,
    pub count: u64,
}

impl Rows {
    pub async fn read(mut batches: SendableRecordBatchStream) -> Result<Rows, Failure> {
        let columns = batches.schema().fields().iter().map(|field| field.name().clone()).collect();
        let mut all = Rows { columns, ..Rows::default() };
        while let Some(batch) = batches.next().await {
            all.add(&batch.map_err(of_engine)?)?;
        }
        Ok(all)
    }

    fn add(&mut self, batch: &RecordBatch) -> anyhow::Result<()> {
        self.count += batch.num_rows() as u64;
        let batch = batch.slice(0, batch.num_rows().min(KEPT - self.rows.len()));
        let columns = batch.columns().iter().map(cells).collect::<anyhow::Result<Vec<_>>>()?;
        self.rows.extend((0..batch.num_rows()).map(|row| columns.iter().map(|column| column[row].clone()).collect()));
        Ok(())
    }

    /// Returns the value of a row in the column of this name. A column that is not there has none.
    pub fn cell<'r>(&self, row: &'r [Cell], column: &str) -> &'r Cell {
        self.columns.iter().position(|name| name == column).map_or(&Cell::Null, |index| &row[index])
    }

    /// Returns the value as a number, if it is one.
    pub fn number(&self, row: &[Cell], column: &str) -> Option<f64> {
        match *self.cell(row, column) {
            Cell::Integer(value) => Some(value as f64),
            Cell::Number(value) => Some(value),
            Cell::Null | Cell::Text(_) => None,
        }
    }

    /// Returns the value as an integer. Other values, and null, are 0.
    pub fn integer(&self, row: &[Cell], column: &str) -> i128 {
        match *self.cell(row, column) {
            Cell::Integer(value) => value,
            _ => 0,
        }
    }

    /// Returns the text, if there is one.
    pub fn text<'r>(&self, row: &'r [Cell], column: &str) -> Option<&'r str> {
        match self.cell(row, column) {
            Cell::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the sum of a column of integers over the rows in memory.
    pub fn sum(&self, column: &str) -> i128 {
        self.rows.iter().map(|row| self.integer(row, column)).sum()
    }
}

fn cells(column: &ArrayRef) -> anyhow::Result<Vec<Cell>> {
    let converted = |kind| cast(column, &kind).context("cannot convert a column of the answer");
    Ok(match column.data_type() {
        kind if kind.is_signed_integer() => {
            let values = converted(DataType::Int64)?;
            values.as_primitive::<Int64Type>().iter().map(|value| or_null(value, |v| Cell::Integer(v.into()))).collect()
        }
        kind if kind.is_unsigned_integer() => {
            let values = converted(DataType::UInt64)?;
            values
                .as_primitive::<UInt64Type>()
                .iter()
                .map(|value| or_null(value, |v| Cell::Integer(v.into())))
                .collect()
        }
        // A sum of unsigned integers and a 0 is one.
        DataType::Decimal128(_, 0) => {
            let values = column.as_primitive::<Decimal128Type>().iter();
            values.map(|value| or_null(value, Cell::Integer)).collect()
        }
        kind if kind.is_numeric() => {
            let values = converted(DataType::Float64)?;
            values.as_primitive::<Float64Type>().iter().map(|value| or_null(value, Cell::Number)).collect()
        }
        _ => {
            let texts = print::texts(column, "").context("cannot show a column of the answer")?;
            texts
                .into_iter()
                .enumerate()
                .map(|(row, text)| if column.is_null(row) { Cell::Null } else { Cell::Text(text) })
                .collect()
        }
    })
}

fn or_null<T>(value: Option<T>, cell: impl Fn(T) -> Cell) -> Cell {
    value.map_or(Cell::Null, cell)
}
