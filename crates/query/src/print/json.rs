//! An array of objects, one a line.

use std::io::Write;

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::error::ArrowError;
use datafusion::arrow::json::WriterBuilder;
use datafusion::arrow::json::writer::{JsonFormat, Writer};

use super::output::{Output, failure};
use crate::exit::Failure;

/// An array with a line for each row.
#[derive(Debug, Default)]
struct Lines;

impl JsonFormat for Lines {
    fn start_stream<W: Write>(&self, writer: &mut W) -> Result<(), ArrowError> {
        Ok(writer.write_all(b"[")?)
    }

    fn start_row<W: Write>(&self, writer: &mut W, is_first_row: bool) -> Result<(), ArrowError> {
        Ok(writer.write_all(if is_first_row { b"\n" } else { b",\n" })?)
    }

    fn end_stream<W: Write>(&self, writer: &mut W) -> Result<(), ArrowError> {
        Ok(writer.write_all(b"\n]\n")?)
    }
}

pub struct Json<W: Write>(Writer<W, Lines>);

impl<W: Write> Json<W> {
    pub fn new(writer: W) -> Json<W> {
        Json(WriterBuilder::new().with_explicit_nulls(true).build(writer))
    }
}

impl<W: Write> Output for Json<W> {
    fn add(&mut self, rows: &RecordBatch) -> Result<(), Failure> {
        self.0.write(rows).map_err(failure)
    }

    fn finish(mut self: Box<Self>) -> Result<(), Failure> {
        self.0.finish().map_err(failure)?;
        self.0.into_inner().flush().map_err(|error| failure(error.into()))
    }
}
