//! Answers a query.

use std::fmt;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::Context as _;
use datafusion::prelude::SQLOptions;
use futures::StreamExt as _;

use crate::data_set::DataSet;
use crate::engine;
use crate::exit::Failure;
use crate::print::{self, Format};
use crate::tables::Tables;

/// The bytes that a query has read, of those that the files of its tables have.
#[derive(Debug)]
pub struct Usage {
    read: u64,
    bytes: u64,
    files: usize,
}

impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Usage { read, bytes, files } = self;
        let share = if *bytes == 0 { 0.0 } else { 100.0 * *read as f64 / *bytes as f64 };
        write!(f, "read: {read} bytes of {bytes} in {files} files ({share:.2} %)")
    }
}

/// Prints the answer to the query.
pub async fn answer(set: DataSet, query: &str, format: Format) -> Result<Usage, Failure> {
    let read = Arc::new(AtomicU64::new(0));
    let engine = engine::engine(&set, &read)?;
    let tables = Arc::new(Tables::new(set, engine.state()));
    let catalog = engine.catalog("datafusion").context("the engine has no catalog")?;
    catalog.register_schema("public", Arc::clone(&tables) as _)?;
    let only_ask = SQLOptions::new().with_allow_ddl(false).with_allow_dml(false).with_allow_statements(false);
    let frame = engine.sql_with_options(query, only_ask).await?;
    let mut batches = frame.execute_stream().await?;
    let mut output = print::output(format, &batches.schema(), io::BufWriter::new(io::stdout().lock()))?;
    while let Some(batch) = batches.next().await {
        output.add(&batch?)?;
    }
    output.finish()?;
    let (files, bytes) = tables.size();
    Ok(Usage { read: read.load(Ordering::Relaxed), bytes, files })
}
