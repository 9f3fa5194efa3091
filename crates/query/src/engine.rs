//! The engine, set up for data sets.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use anyhow::Context as _;
use datafusion::error::Result;
use datafusion::execution::disk_manager::{DiskManagerBuilder, DiskManagerMode};
use datafusion::execution::object_store::ObjectStoreUrl;
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::object_store::local::LocalFileSystem;
use datafusion::prelude::{SessionConfig, SessionContext};

use crate::counted::Counted;
use crate::data_set::DataSet;
use crate::exit::{self, Failure};
use crate::regexp_extract::regexp_extract;

/// The address of the data set in the engine. Its files have their paths below the folder, so neither the engine nor its errors depend on
/// the folder's own name.
pub const ROOT: &str = "fleet://data-set/";

/// Returns the engine without tables, with its bytes counted in `read`.
pub fn engine(set: &DataSet, read: &Arc<AtomicU64>) -> Result<SessionContext, Failure> {
    // A query leaves no files behind, however it ends.
    let no_files = DiskManagerBuilder::default().with_mode(DiskManagerMode::Disabled);
    let runtime = RuntimeEnvBuilder::new().with_disk_manager_builder(no_files).build_arc()?;
    let engine = SessionContext::new_with_config_rt(config(), runtime);
    let files = LocalFileSystem::new_with_prefix(set.folder())
        .context("cannot read the data set")
        .map_err(|error| Failure::new(exit::NO_TRACE, error))?;
    let root = ObjectStoreUrl::parse(ROOT)?;
    engine.register_object_store(root.as_ref(), Arc::new(Counted::new(files, Arc::clone(read))));
    engine.register_udf(regexp_extract());
    Ok(engine)
}

fn config() -> SessionConfig {
    let mut config = SessionConfig::new().with_information_schema(true);
    let options = config.options_mut();
    // As DuckDB.
    "nulls_last".clone_into(&mut options.sql_parser.default_null_ordering);
    let parquet = &mut options.execution.parquet;
    // Reads other columns only where the condition holds.
    parquet.pushdown_filters = true;
    parquet.reorder_filters = true;
    // Else each file costs 512 KiB, to save a second read of its end. A local read costs less than that.
    parquet.metadata_size_hint = None;
    config
}
