//! The table `clocks`: one small file, which a later run of `dyntrace clocks` replaces. It is read at once, so a query finds one version.

use std::sync::Arc;

use datafusion::arrow::array::{RecordBatch, new_null_array};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{Schema, SchemaRef};
use datafusion::catalog::{MemTable, TableProvider};
use datafusion::common::Result;
use datafusion::parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use object_store::{ObjectMeta, ObjectStore, ObjectStoreExt as _};

/// Reads the table from its files, of which there is one, or none before the first conversion.
pub async fn table(store: &dyn ObjectStore, files: &[ObjectMeta], known: Schema) -> Result<Arc<dyn TableProvider>> {
    let mut schema = Arc::new(known);
    let mut batches = Vec::new();
    for file in files {
        let content = store.get(&file.location).await?.bytes().await?;
        for batch in ParquetRecordBatchReaderBuilder::try_new(content)?.build()? {
            let batch = batch?;
            schema = Arc::new(with_added(&schema, batch.schema_ref()));
            batches.push(batch);
        }
    }
    let batches = batches.iter().map(|batch| adapted(batch, &schema)).collect::<Result<_>>()?;
    Ok(Arc::new(MemTable::try_new(schema, vec![batches])?))
}

/// Returns the columns of `known`, and behind them those that only `found` has.
fn with_added(known: &SchemaRef, found: &SchemaRef) -> Schema {
    let added = found.fields().iter().filter(|field| known.field_with_name(field.name()).is_err());
    Schema::new(known.fields().iter().chain(added).cloned().collect::<Vec<_>>())
}

/// Returns the columns of `schema`, null where the batch lacks them.
fn adapted(batch: &RecordBatch, schema: &SchemaRef) -> Result<RecordBatch> {
    let columns = schema.fields().iter().map(|field| match batch.column_by_name(field.name()) {
        Some(column) => cast(column, field.data_type()),
        None => Ok(new_null_array(field.data_type(), batch.num_rows())),
    });
    let columns = columns.collect::<Result<_, _>>()?;
    Ok(RecordBatch::try_new(Arc::clone(schema), columns)?)
}
