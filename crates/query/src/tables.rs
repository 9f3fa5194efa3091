//! The tables of a data set in the engine. A table's files are looked at when a query names it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use datafusion::arrow::datatypes::{Schema, SchemaRef};
use datafusion::catalog::{SchemaProvider, TableProvider};
use datafusion::common::Result;
use datafusion::datasource::file_format::FileFormat as _;
use datafusion::datasource::file_format::parquet::ParquetFormat;
use datafusion::datasource::listing::{ListingOptions, ListingTable, ListingTableConfig, ListingTableUrl};
use datafusion::execution::context::SessionState;
use object_store::{ObjectMeta, ObjectStore};

use crate::data_set::{DataSet, newest_of_hosts};
use crate::engine::ROOT;
use crate::{clocks, columns, data_set};

/// The tables of a data set.
#[derive(Debug)]
pub struct Tables {
    set: DataSet,
    /// An engine without these tables, but with the same files and caches.
    engine: SessionState,
    used: Mutex<BTreeMap<String, Vec<ObjectMeta>>>,
}

impl Tables {
    pub fn new(set: DataSet, engine: SessionState) -> Tables {
        Tables { set, engine, used: Mutex::default() }
    }

    /// Returns the number and the bytes of all files of the tables that queries have named.
    pub fn size(&self) -> (usize, u64) {
        let used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        let files = || used.values().flatten();
        (files().count(), files().map(|file| file.size).sum())
    }

    /// Returns the hosts of which a table that queries have named has files, by the names of their folders.
    pub fn hosts(&self, table: &str) -> BTreeSet<String> {
        let used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        let folders = used.get(table).into_iter().flatten().filter_map(|file| file.location.as_ref().split('/').nth(1));
        folders.filter_map(|folder| Some(folder.strip_prefix("host=")?.to_owned())).collect()
    }

    async fn open(&self, name: &str, known: Schema) -> Result<Arc<dyn TableProvider>> {
        let files = self.set.files(name).await?;
        let url = ListingTableUrl::parse(format!("{ROOT}{name}/"))?;
        let store = self.engine.runtime_env().object_store(&url)?;
        let table = match name {
            data_set::CLOCKS => clocks::table(&*store, &files, known).await?,
            _ => {
                let schema = self.columns(&store, &files, known).await?;
                let options =
                    ListingOptions::new(Arc::new(self.format())).with_table_partition_cols(columns::partitions());
                let config = ListingTableConfig::new(url).with_listing_options(options).with_schema(schema);
                Arc::new(ListingTable::try_new(config)?)
            }
        };
        self.used.lock().unwrap_or_else(PoisonError::into_inner).insert(name.to_owned(), files);
        Ok(table)
    }

    /// Returns the known columns of a table, and behind them those that later versions have added.
    async fn columns(&self, store: &Arc<dyn ObjectStore>, files: &[ObjectMeta], known: Schema) -> Result<SchemaRef> {
        let newest: Vec<_> = newest_of_hosts(files).cloned().collect();
        let found = self.format().infer_schema(&self.engine, store, &newest).await?;
        Ok(Arc::new(Schema::try_merge([known, found.as_ref().clone()])?))
    }

    fn format(&self) -> ParquetFormat {
        ParquetFormat::new().with_options(self.engine.table_options().parquet.clone())
    }
}

#[async_trait]
impl SchemaProvider for Tables {
    fn table_names(&self) -> Vec<String> {
        columns::tables().map(str::to_owned).collect()
    }

    async fn table(&self, name: &str) -> Result<Option<Arc<dyn TableProvider>>> {
        match columns::of(name) {
            Some(known) => self.open(name, known).await.map(Some),
            None => Ok(None),
        }
    }

    fn table_exist(&self, name: &str) -> bool {
        columns::of(name).is_some()
    }
}
