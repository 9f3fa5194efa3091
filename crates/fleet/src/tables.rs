//! The files of a range: each row goes to the file of its table, host and hour.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::PathBuf;

use crate::error::Error;
use crate::files::{self, Partial};
use crate::ledger::Ledger;
use crate::place::RowPlace;
use crate::schema::Schema;
use crate::table::Table;
use crate::values::Cell;

/// The hours of a table whose files are written at the same time. Rows of further hours close the earliest of them.
const OPEN: usize = 2;
/// The most rows of a file.
const ROWS: u64 = 1 << 22;
/// The most files of a range: that of a year.
const FILES: usize = 100_000;

/// Writes the files of a range.
///
/// The same rows in the same order make the same files. Files that are there from an earlier run stay as they are.
pub struct Tables<'s> {
    ledger: &'s Ledger,
    number: usize,
    hostname: &'s str,
    schemas: &'s [(&'static str, Schema)],
    /// By table and hour.
    open: BTreeMap<(usize, RowPlace), Part>,
    /// How many files were begun, by table and hour.
    begun: BTreeMap<(usize, RowPlace), usize>,
    files: Vec<String>,
}

/// A file of a range.
struct Part {
    /// Its path in the data set.
    name: String,
    path: PathBuf,
    rows: u64,
    /// `None` if the file is there.
    writer: Option<(Table<File>, Partial)>,
}

impl<'s> Tables<'s> {
    /// Begins the range with this number. `schemas` has the name and the columns of each table.
    pub fn new(
        ledger: &'s Ledger,
        number: usize,
        hostname: &'s str,
        schemas: &'s [(&'static str, Schema)],
    ) -> Tables<'s> {
        let (open, begun, files) = (BTreeMap::new(), BTreeMap::new(), Vec::new());
        Tables { ledger, number, hostname, schemas, open, begun, files }
    }

    /// Appends a row to the table with this number: each column gets at most one cell, by its number; the others are null. `time` are
    /// nanoseconds since 1970.
    ///
    /// # Errors
    ///
    /// If a file cannot be written.
    ///
    /// # Panics
    ///
    /// If a cell has not the kind of its column.
    pub fn row<'c>(
        &mut self,
        table: usize,
        time: i64,
        cells: impl IntoIterator<Item = (usize, Cell<'c>)>,
    ) -> Result<(), Error> {
        let key = (table, RowPlace::at(time));
        if !self.open.contains_key(&key) {
            self.begin(key)?;
        }
        let part = self.open.get_mut(&key).expect("it was begun");
        part.rows += 1;
        if let Some((table, _)) = &mut part.writer {
            table.row(cells).map_err(Error::table(&part.path))?;
        }
        if part.rows >= ROWS { self.end(key) } else { Ok(()) }
    }

    /// Begins a file of each table that has none yet, so that engines find the columns of tables without rows. Its place is that of rows at
    /// this time.
    ///
    /// # Errors
    ///
    /// If a file cannot be written.
    pub fn begin_all(&mut self, time: i64) -> Result<(), Error> {
        let missing = (0..self.schemas.len()).filter(|table| !self.begun.keys().any(|(begun, _)| begun == table));
        missing.collect::<Vec<_>>().into_iter().try_for_each(|table| self.begin((table, RowPlace::at(time))))
    }

    /// Ends all files. Returns their paths in the data set.
    ///
    /// # Errors
    ///
    /// If a file cannot be written.
    pub fn finish(mut self) -> Result<Vec<String>, Error> {
        while let Some((&key, _)) = self.open.first_key_value() {
            self.end(key)?;
        }
        self.files.sort();
        Ok(self.files)
    }

    fn begin(&mut self, key: (usize, RowPlace)) -> Result<(), Error> {
        let (table, place) = key;
        let of_table: Vec<_> = self.open.keys().copied().filter(|(of, _)| *of == table).collect();
        if of_table.len() >= OPEN {
            self.end(of_table[0])?;
        }
        if self.files.len() + self.open.len() >= FILES {
            return Err(Error::Hours { limit: FILES });
        }
        let count = self.begun.entry(key).or_default();
        let (name, schema) = &self.schemas[table];
        let folder = format!("{name}/{}", place.folder(self.hostname));
        let name = format!("{folder}/{}{count:03}.parquet", self.ledger.start(self.number));
        *count += 1;
        let path = self.ledger.root().join(&name);
        let writer = if path.exists() {
            None
        } else {
            files::create_folder(&self.ledger.root().join(&folder), self.ledger.mode())?;
            let (partial, file) = Partial::create(&path, self.ledger.mode())?;
            Some((Table::create(file, schema).map_err(Error::table(&path))?, partial))
        };
        self.open.insert(key, Part { name, path, rows: 0, writer });
        Ok(())
    }

    fn end(&mut self, key: (usize, RowPlace)) -> Result<(), Error> {
        let Some(Part { name, path, writer, .. }) = self.open.remove(&key) else { return Ok(()) };
        if let Some((table, partial)) = writer {
            let file = table.finish().map_err(Error::table(&path))?;
            partial.rename(&file)?;
        }
        self.files.push(name);
        Ok(())
    }
}
