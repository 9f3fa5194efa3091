//! The trait of all formats, and functions that they share.

use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, RecordBatch, StringArray};
use datafusion::arrow::error::ArrowError;
use datafusion::arrow::util::display::{ArrayFormatter, FormatOptions};

use crate::exit::Failure;

/// Prints the rows of an answer.
pub trait Output {
    fn add(&mut self, rows: &RecordBatch) -> Result<(), Failure>;

    /// Prints what is left to print: after an error nothing is.
    fn finish(self: Box<Self>) -> Result<(), Failure>;
}

/// Returns the failure of an output: to compute a text, or to write it.
pub(super) fn failure(error: ArrowError) -> Failure {
    let error = match error {
        ArrowError::IoError(_, error) => anyhow::Error::new(error),
        error => anyhow::Error::new(error),
    };
    Failure::from(error.context("cannot write to standard output"))
}

/// Returns the texts of a column's values, and this one for null.
pub fn texts(column: &ArrayRef, null: &str) -> Result<Vec<String>, ArrowError> {
    let options = FormatOptions::new().with_null(null).with_display_error(false);
    let formatter = ArrayFormatter::try_new(column, &options)?;
    (0..column.len()).map(|row| formatter.value(row).try_to_string()).collect()
}

/// Returns the column with its values as texts, and nulls left.
pub(super) fn as_text(column: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    let texts = texts(column, "")?;
    let texts = texts.iter().enumerate().map(|(row, text)| column.is_valid(row).then_some(text));
    Ok(Arc::new(texts.collect::<StringArray>()))
}
