//! The engine, set up for data sets.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use datafusion::error::Result;
use datafusion::execution::disk_manager::{DiskManagerBuilder, DiskManagerMode};
use datafusion::execution::object_store::ObjectStoreUrl;
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::prelude::{SessionConfig, SessionContext};

use crate::counted::Counted;
use crate::data_set::DataSet;
use crate::exit::{Failure, of_engine};
use crate::regexp_extract::regexp_extract;

/// The bytes of a file's end that are read at once from behind a network. The end of an hour's file has some 80 KB.
const END: usize = 1 << 17;

/// The address of the data set in the engine. Its files have their paths below the data set, so neither the engine nor its errors depend
/// on the name of the folder or bucket.
pub const ROOT: &str = "fleet://data-set/";

/// Returns the engine without tables, with its bytes counted in `read`. It takes at most `memory` bytes for what it sorts, groups and joins.
pub fn engine(set: &DataSet, memory: Option<u64>, read: &Arc<AtomicU64>) -> Result<SessionContext, Failure> {
    // A query leaves no files behind, however it ends.
    let no_files = DiskManagerBuilder::default().with_mode(DiskManagerMode::Disabled);
    let mut runtime = RuntimeEnvBuilder::new().with_disk_manager_builder(no_files);
    if let Some(memory) = memory {
        runtime = runtime.with_memory_limit(usize::try_from(memory).unwrap_or(usize::MAX), 1.0);
    }
    let runtime = runtime.build_arc().map_err(of_engine)?;
    let store = set.store();
    let engine = SessionContext::new_with_config_rt(config(store.is_remote), runtime);
    let files = Counted::new(Arc::clone(&store.objects), Arc::clone(read));
    let root = ObjectStoreUrl::parse(ROOT).map_err(of_engine)?;
    engine.register_object_store(root.as_ref(), Arc::new(files));
    engine.register_udf(regexp_extract());
    Ok(engine)
}

fn config(is_remote: bool) -> SessionConfig {
    let mut config = SessionConfig::new().with_information_schema(true);
    let options = config.options_mut();
    // As DuckDB.
    "nulls_last".clone_into(&mut options.sql_parser.default_null_ordering);
    let parquet = &mut options.execution.parquet;
    // Reads other columns only where the condition holds.
    parquet.pushdown_filters = true;
    parquet.reorder_filters = true;
    // Else each file costs 512 KiB, to save a second read of its end. A local read costs less than that. A request to a store costs a
    // round trip, and money.
    parquet.metadata_size_hint = is_remote.then_some(END);
    config
}
