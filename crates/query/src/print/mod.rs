//! Prints answers.

mod csv;
mod json;
mod output;
mod table;

use std::io::Write;

use datafusion::arrow::datatypes::SchemaRef;

use crate::exit::Failure;
pub use output::{Output, texts};

/// How an answer is printed.
#[derive(Clone, Copy, Debug)]
pub enum Format {
    /// Aligned columns, for people.
    Table,
    /// An array of objects.
    Json,
    /// Lines of values behind one of names.
    Csv,
}

/// Returns an output for rows with these columns.
pub fn output<'w>(
    format: Format,
    columns: &SchemaRef,
    writer: impl Write + 'w,
) -> Result<Box<dyn Output + 'w>, Failure> {
    Ok(match format {
        Format::Table => Box::new(table::Table::new(columns, writer)),
        Format::Json => Box::new(json::Json::new(writer)),
        Format::Csv => Box::new(csv::Csv::new(columns, writer)),
    })
}
