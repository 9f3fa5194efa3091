//! The finished files of a data set in a folder.
//!
//! Another user may have made the data set. So all is opened by descriptor, below that of its folder: a symbolic link would let an upload
//! send any file that it can read.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use anyhow::Context as _;
use bytes::Bytes;
use dyntrace_folders::Reading;
use dyntrace_terminal::escape;

/// The folder of plans and lists: a folder for each source.
const SOURCES: &str = "_sources";

/// The most names in a path: data sets have five.
const DEEPEST: usize = 16;
/// The most bytes of a file that is compared as a whole: a plan, a list, or the clocks.
const LONGEST: u64 = 1 << 30;

/// A file, and its name in the store.
#[derive(Clone, Debug)]
pub struct Item {
    /// Its path below the data set.
    pub key: String,
    /// For messages; nothing is opened by it.
    pub path: PathBuf,
    pub version: Version,
    data_set: Arc<Reading>,
}

impl Item {
    /// Opens the file, if it is a regular one.
    pub fn open(&self) -> io::Result<File> {
        open(&self.data_set, Path::new(&self.key))
    }

    /// Reads a small file.
    pub fn read(&self) -> io::Result<Bytes> {
        let mut content = Vec::new();
        match self.open()?.take(LONGEST).read_to_end(&mut content)? as u64 {
            LONGEST => Err(io::ErrorKind::FileTooLarge.into()),
            _ => Ok(content.into()),
        }
    }
}

fn open(data_set: &Reading, below: &Path) -> io::Result<File> {
    let (folder, name) = (below.parent().unwrap_or(Path::new("")), below.file_name().unwrap_or_default());
    data_set.below(folder)?.file(name)
}

/// The state of a file: tells two files of one name apart without reading them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Version {
    pub size: u64,
    pub modified: Option<SystemTime>,
}

/// The files of a data set.
#[derive(Debug, Default)]
pub struct Inventory {
    /// Plans of ranges.
    pub plans: Vec<Item>,
    /// Files with rows, which never change.
    pub rows: Vec<Item>,
    /// Tables that are one file, `NAME/NAME.parquet`, which is replaced.
    pub singles: Vec<Item>,
    /// Lists of the files of ranges that are done.
    pub lists: Vec<Item>,
    /// Files that cannot be copied, with the reasons.
    pub left_out: Vec<String>,
}

impl Inventory {
    /// Reads the folder. A converter may write meanwhile: each list that is found has all its files, and each file with rows its plan.
    pub fn read(folder: &Path) -> anyhow::Result<Inventory> {
        let fail = || format!("cannot read {}", escape::path(folder));
        let data_set = Arc::new(Reading::open(folder).with_context(fail)?);
        let mut inventory = Inventory::default();
        let mut walk = Walk { folder, data_set, left_out: &mut Vec::new() };
        inventory.lists = walk.of_sources("done")?;
        // Tables have names in UTF-8.
        let names = walk.data_set.names().with_context(fail)?.into_iter().filter_map(|name| name.into_string().ok());
        for table in names.filter(|name| !is_hidden(name.as_ref())) {
            let single = Path::new(&table).join(format!("{table}.parquet"));
            let (singles, rows): (Vec<Item>, Vec<Item>) =
                walk.files(Path::new(&table), "parquet")?.into_iter().partition(|item| Path::new(&item.key) == single);
            inventory.singles.extend(singles);
            inventory.rows.extend(rows);
        }
        inventory.plans = walk.of_sources("plan")?;
        inventory.left_out = std::mem::take(walk.left_out);
        Ok(inventory)
    }

    /// Returns all files.
    pub fn items(&self) -> impl Iterator<Item = &Item> {
        self.plans.iter().chain(&self.rows).chain(&self.singles).chain(&self.lists)
    }
}

/// Names that begin with a dot are files that a converter is writing. Names that begin with `_` are those of other programs: half of a
/// `_delta_log` in the store would be a damaged Delta table.
fn is_hidden(name: &OsStr) -> bool {
    matches!(name.as_encoded_bytes(), [b'.' | b'_', ..])
}

/// A walk through the folder.
struct Walk<'w> {
    folder: &'w Path,
    data_set: Arc<Reading>,
    left_out: &'w mut Vec<String>,
}

impl Walk<'_> {
    /// Returns the files of sources with this extension.
    fn of_sources(&mut self, extension: &str) -> anyhow::Result<Vec<Item>> {
        self.files(Path::new(SOURCES), extension)
    }

    /// Returns the files with this extension at a place and below it.
    fn files(&mut self, below: &Path, extension: &str) -> anyhow::Result<Vec<Item>> {
        let mut found = Vec::new();
        let data_set = Arc::clone(&self.data_set);
        self.walk(&data_set, below, extension, &mut found)?;
        Ok(found)
    }

    /// Adds the files in the order of their names. `below` is the path of a name in the folder `here`.
    fn walk(&mut self, here: &Reading, below: &Path, extension: &str, found: &mut Vec<Item>) -> anyhow::Result<()> {
        let name = Path::new(below.file_name().unwrap_or_default());
        let folder = self.folder;
        let fail = || format!("cannot read {}", escape::path(folder.join(below)));
        if below.components().count() > DEEPEST {
            self.leave_out(below, "no data set has so many folders in each other");
        } else if here.has_folder(name).with_context(fail)? {
            let folder = here.below(name).and_then(|folder| Ok((folder.names()?, folder)));
            let (mut names, folder) = match folder {
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
                other => other.with_context(fail)?,
            };
            names.sort_unstable();
            for name in names.iter().filter(|name| !is_hidden(name)) {
                self.walk(&folder, &below.join(name), extension, found)?;
            }
        // Without an extension it may be a link to a folder.
        } else if match name.extension() {
            Some(end) => end == extension,
            None => !here.has_file(name).with_context(fail)?,
        } {
            match here.file(name).and_then(|file| file.metadata()) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Ok(metadata) => {
                    let version = Version { size: metadata.len(), modified: metadata.modified().ok() };
                    found.extend(self.item(below, version));
                }
                Err(error) => self.leave_out(below, &error.to_string()),
            }
        }
        Ok(())
    }

    fn item(&mut self, below: &Path, version: Version) -> Option<Item> {
        let reason = match below.to_str() {
            None => "its name is not UTF-8, so it cannot be one in a store",
            Some(key) if object_store::path::Path::parse(key).is_err() => {
                "its name has control characters, so it cannot be one in a store"
            }
            Some(key) => {
                let (key, path) = (key.to_owned(), self.folder.join(below));
                return Some(Item { key, path, version, data_set: Arc::clone(&self.data_set) });
            }
        };
        self.leave_out(below, reason);
        None
    }

    fn leave_out(&mut self, below: &Path, reason: &str) {
        let told = format!("left out {}: {reason}", escape::path(self.folder.join(below)));
        // Sources are looked through twice.
        if !self.left_out.contains(&told) {
            self.left_out.push(told);
        }
    }
}
