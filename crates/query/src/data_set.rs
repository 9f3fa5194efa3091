//! A data set, and the files of its tables.

use anyhow::anyhow;
use futures::TryStreamExt as _;
use object_store::path::Path;
use object_store::{ObjectMeta, ObjectStore as _, Result};

use crate::columns;
use crate::exit::{self, Failure};
use crate::store::Store;

/// The table that is one file.
pub const CLOCKS: &str = "clocks";

/// A data set in a folder or in an object store.
#[derive(Debug)]
pub struct DataSet {
    store: Store,
}

impl DataSet {
    /// Opens the data set, if the place has a folder of a table.
    pub async fn open(store: Store) -> Result<DataSet, Failure> {
        let fail = |error: anyhow::Error| Failure::new(exit::NO_TRACE, error);
        let found = store.objects.list_with_delimiter(None).await;
        let found = found.map_err(|error| fail(store.error("cannot read the data set", error)))?;
        if !found.common_prefixes.iter().any(|folder| columns::tables().any(|table| folder.as_ref() == table)) {
            let shown = &store.shown;
            let tables = columns::tables().collect::<Vec<_>>().join(", ");
            let folder = if store.is_remote { "FOLDER" } else { shown };
            let mut way = format!("dyntrace convert RECORDINGS --to parquet --partition host,date,hour -o {folder}");
            if store.is_remote {
                way += &format!(" and dyntrace upload {folder} {shown}");
            }
            return Err(fail(anyhow!(
                "{shown} is no data set: it has no folder of a table ({tables}); make one of recordings by {way}"
            )));
        }
        Ok(DataSet { store })
    }

    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Returns the files of a table in the order of their paths. A table without a folder has none.
    pub async fn files(&self, table: &str) -> Result<Vec<ObjectMeta>> {
        let folder = Path::parse(table)?;
        let found = self.store.objects.list(Some(&folder));
        let mut found: Vec<_> =
            found.try_filter(|file| std::future::ready(is_whole(&file.location))).try_collect().await?;
        found.sort_unstable_by(|a, b| a.location.cmp(&b.location));
        Ok(found)
    }
}

/// Whether this is a file with rows. Names that begin with a dot are files that a converter is writing. Names that begin with `_` are
/// those of other programs: checkpoints in the `_delta_log` of a Delta table are Parquet files, too.
fn is_whole(location: &Path) -> bool {
    location.extension() == Some("parquet") && !location.as_ref().split('/').any(|part| part.starts_with(['.', '_']))
}

/// Returns the last file of each host: of its files, it has the most columns, as versions only add some.
pub fn newest_of_hosts(files: &[ObjectMeta]) -> impl Iterator<Item = &ObjectMeta> {
    let host = |file: &ObjectMeta| file.location.as_ref().split('/').nth(1).map(str::to_owned);
    files.chunk_by(move |a, b| host(a) == host(b)).filter_map(|files| files.last())
}
