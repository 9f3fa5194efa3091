//! CSV, with a line of names. Nulls are empty, and values in values are text.

use std::io::Write;
use std::sync::Arc;

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::csv::WriterBuilder;
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::arrow::error::ArrowError;

use super::output::{Output, as_text, failure};
use crate::exit::Failure;

pub struct Csv<W: Write> {
    columns: SchemaRef,
    is_begun: bool,
    writer: W,
}

impl<W: Write> Csv<W> {
    pub fn new(columns: &SchemaRef, writer: W) -> Csv<W> {
        let flat = columns.fields().iter().map(|field| match field.data_type().is_nested() {
            true => Arc::new(Field::new(field.name(), DataType::Utf8, true)),
            false => Arc::clone(field),
        });
        Csv { columns: Arc::new(Schema::new(flat.collect::<Vec<_>>())), is_begun: false, writer }
    }

    fn write(&mut self, rows: &RecordBatch) -> Result<(), ArrowError> {
        let flat = rows.columns().iter().map(|column| match column.data_type().is_nested() {
            true => as_text(column),
            false => Ok(Arc::clone(column)),
        });
        let flat = RecordBatch::try_new(Arc::clone(&self.columns), flat.collect::<Result<_, _>>()?)?;
        // Its writer does not tell a reader that has gone from other errors.
        let mut text = Vec::new();
        WriterBuilder::new().with_header(!self.is_begun).build(&mut text).write(&flat)?;
        self.is_begun = true;
        Ok(self.writer.write_all(&text)?)
    }
}

impl<W: Write> Output for Csv<W> {
    fn add(&mut self, rows: &RecordBatch) -> Result<(), Failure> {
        self.write(rows).map_err(failure)
    }

    fn finish(mut self: Box<Self>) -> Result<(), Failure> {
        if !self.is_begun {
            self.write(&RecordBatch::new_empty(Arc::clone(&self.columns))).map_err(failure)?;
        }
        self.writer.flush().map_err(|error| failure(error.into()))
    }
}
