//! Answers a query.

use std::collections::BTreeSet;
use std::fmt;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::Context as _;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::prelude::{SQLOptions, SessionContext};
use futures::StreamExt as _;

use crate::data_set::DataSet;
use crate::engine;
use crate::exit::{Failure, of_engine};
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

/// The engine with the tables of a data set.
pub struct Session {
    engine: SessionContext,
    tables: Arc<Tables>,
    read: Arc<AtomicU64>,
}

impl Session {
    pub fn new(set: DataSet, memory: Option<u64>) -> Result<Session, Failure> {
        let read = Arc::new(AtomicU64::new(0));
        let engine = engine::engine(&set, memory, &read)?;
        let tables = Arc::new(Tables::new(set, engine.state()));
        let catalog = engine.catalog("datafusion").context("the engine has no catalog")?;
        catalog.register_schema("public", Arc::clone(&tables) as _).map_err(of_engine)?;
        Ok(Session { engine, tables, read })
    }

    /// Begins to answer a query.
    pub async fn ask(&self, query: &str) -> Result<SendableRecordBatchStream, Failure> {
        let only_ask = SQLOptions::new().with_allow_ddl(false).with_allow_dml(false).with_allow_statements(false);
        let rows = self.engine.sql_with_options(query, only_ask).await.map_err(of_engine)?;
        rows.execute_stream().await.map_err(of_engine)
    }

    /// Returns the hosts of which a table has files, if a query has named the table.
    pub fn hosts(&self, table: &str) -> BTreeSet<String> {
        self.tables.hosts(table)
    }

    /// Returns what all queries so far have read.
    pub fn usage(&self) -> Usage {
        let (files, bytes) = self.tables.size();
        Usage { read: self.read.load(Ordering::Relaxed), bytes, files }
    }
}

/// Prints the answer to the query.
pub async fn answer(session: &Session, query: &str, format: Format) -> Result<Usage, Failure> {
    let mut batches = session.ask(query).await?;
    let mut output = print::output(format, &batches.schema(), io::BufWriter::new(io::stdout().lock()))?;
    while let Some(batch) = batches.next().await {
        output.add(&batch.map_err(of_engine)?)?;
    }
    output.finish()?;
    Ok(session.usage())
}
