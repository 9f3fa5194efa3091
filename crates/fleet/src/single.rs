//! A table with one file, which a run replaces whole.

use std::fs::File;
use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::files::{self, Partial};
use crate::schema::Schema;
use crate::table::Table;
use crate::values::Cell;

/// The beginning of the names of partial files without rows. A run that begins a table leaves those of a run that replaces it.
const EMPTY: &str = "empty";

/// A table with one file, `NAME/NAME.parquet` in a data set.
///
/// The file appears under its name when it is whole, and a later one takes its place by a rename. So an engine finds one version of the
/// table at any time, and one that has opened a version reads that.
#[derive(Clone, Debug)]
pub struct SingleTable<'s> {
    folder: PathBuf,
    path: PathBuf,
    file_name: String,
    schema: &'s Schema,
    mode: u32,
}

impl<'s> SingleTable<'s> {
    /// Returns the table with this name in the data set in the folder `root`. New files get these access rights.
    pub fn of(root: &Path, name: &str, schema: &'s Schema, mode: u32) -> SingleTable<'s> {
        let (folder, file_name) = (root.join(name), format!("{name}.parquet"));
        SingleTable { path: folder.join(&file_name), folder, file_name, schema, mode }
    }

    /// Creates the table without rows, unless it exists.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn begin(&self) -> Result<(), Error> {
        files::create_folder(&self.folder, self.mode)?;
        if !self.path.exists() {
            let (partial, file) = Partial::create_as(&self.path, EMPTY, self.mode)?;
            partial.rename_first(&self.write(file, &[])?)?;
        }
        files::settle(&self.folder, &format!("{EMPTY}."))
    }

    /// Replaces the table by one with these rows: each has a cell for each column, or null.
    ///
    /// # Errors
    ///
    /// If it cannot be written. Then it is as before.
    ///
    /// # Panics
    ///
    /// If a cell has not the kind of its column.
    pub fn replace(&self, rows: &[Vec<Option<Cell<'_>>>]) -> Result<(), Error> {
        files::create_folder(&self.folder, self.mode)?;
        loop {
            let (partial, file) = Partial::create(&self.path, self.mode)?;
            let file = self.write(file, rows)?;
            // Else another run has replaced it, and removed this file, which it took for left over.
            if partial.rename_over(&file)? {
                return files::settle(&self.folder, &format!("{}.", self.file_name));
            }
        }
    }

    fn write(&self, file: File, rows: &[Vec<Option<Cell<'_>>>]) -> Result<File, Error> {
        let write = || {
            let mut table = Table::create(file, self.schema)?;
            for row in rows {
                table.row(row.iter().enumerate().filter_map(|(at, cell)| Some((at, (*cell)?))))?;
            }
            table.finish()
        };
        write().map_err(Error::table(&self.path))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::read::read_rows;
    use crate::schema::ColumnKind;

    fn schema() -> Schema {
        let columns = [("hostname", ColumnKind::Text), ("ahead_ns", ColumnKind::Signed), ("drift", ColumnKind::Double)];
        Schema { columns: columns.map(|(name, kind)| (name.to_owned(), kind)).into(), ..Schema::default() }
    }

    fn names(folder: &Path) -> Vec<String> {
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    #[test]
    fn a_table_is_begun_once_and_replaced_whole() {
        let folder = tempfile::tempdir().unwrap();
        let schema = schema();
        let table = SingleTable::of(folder.path(), "clocks", &schema, 0o600);
        let path = folder.path().join("clocks/clocks.parquet");
        let read = || {
            let mut rows = Vec::new();
            read_rows(&path, &[("ahead_ns", ColumnKind::Signed), ("hostname", ColumnKind::Text)], |row| {
                rows.push(format!("{row:?}"))
            })
            .unwrap();
            rows
        };
        table.begin().unwrap();
        assert!(read().is_empty());
        let row = vec![Some(Cell::Text("a".into())), None, Some(Cell::Double(0.5))];
        table.replace(std::slice::from_ref(&row)).unwrap();
        assert_eq!(read().len(), 1);
        // Left by runs that were killed.
        std::mem::forget(Partial::create(&path, 0o600).unwrap());
        std::mem::forget(Partial::create_as(&path, EMPTY, 0o600).unwrap());
        table.begin().unwrap();
        assert_eq!(read().len(), 1);
        assert_eq!(names(&folder.path().join("clocks")).len(), 2);
        table.replace(&[row.clone(), row]).unwrap();
        assert_eq!(read().len(), 2);
        assert_eq!(names(&folder.path().join("clocks")), ["clocks.parquet"]);
    }
}
