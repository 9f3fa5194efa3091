//! The folder of a data set, and the files of its tables.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow};
use datafusion::object_store;
use datafusion::object_store::path::Path as ObjectPath;

use crate::columns;
use crate::escape;
use crate::exit::{self, Failure};

/// The table that is one file.
pub const CLOCKS: &str = "clocks";

/// The folder of a data set.
#[derive(Debug)]
pub struct DataSet {
    folder: PathBuf,
}

/// A file of a table: its path below the folder of the data set, and its size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    pub path: PathBuf,
    pub size: u64,
}

impl File {
    /// Returns the path by which the engine knows the file.
    pub fn location(&self) -> object_store::Result<ObjectPath> {
        Ok(ObjectPath::parse(self.path.to_string_lossy())?)
    }
}

impl DataSet {
    /// Opens the data set, if the folder has that of a table.
    pub fn open(folder: &Path) -> Result<DataSet, Failure> {
        let shown = escape::path(folder);
        let fail = |error: anyhow::Error| Failure::new(exit::NO_TRACE, error);
        fs::read_dir(folder).with_context(|| format!("cannot read the data set {shown}")).map_err(fail)?;
        if !columns::tables().any(|table| folder.join(table).is_dir()) {
            return Err(fail(anyhow!(
                "{shown} is no data set: it has no folder of a table ({}); make one of recordings by \
                 dyntrace convert RECORDINGS --to parquet --partition host,date,hour -o {shown}",
                columns::tables().collect::<Vec<_>>().join(", ")
            )));
        }
        Ok(DataSet { folder: folder.to_owned() })
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the files of a table in the order of their paths. A table without a folder has none.
    pub fn files(&self, table: &str) -> io::Result<Vec<File>> {
        let mut found = Vec::new();
        walk(&self.folder, Path::new(table), &mut found)?;
        found.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        Ok(found)
    }
}

fn walk(root: &Path, below: &Path, found: &mut Vec<File>) -> io::Result<()> {
    let entries = match fs::read_dir(root.join(below)) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    for entry in entries {
        let entry = entry?;
        let path = below.join(entry.file_name());
        // Names that begin with a dot are files that a converter is writing.
        if entry.file_name().as_encoded_bytes().starts_with(b".") {
            continue;
        }
        let metadata = fs::metadata(root.join(&path))?;
        if metadata.is_dir() {
            walk(root, &path, found)?;
        } else if path.extension().is_some_and(|extension| extension == "parquet") {
            found.push(File { path, size: metadata.len() });
        }
    }
    Ok(())
}

/// Returns the last file of each host: of its files, it has the most columns, as versions only add some.
pub fn newest_of_hosts(files: &[File]) -> impl Iterator<Item = &File> {
    let host = |file: &File| file.path.components().nth(1).map(|part| part.as_os_str().to_owned());
    files.chunk_by(move |a, b| host(a) == host(b)).filter_map(|files| files.last())
}
