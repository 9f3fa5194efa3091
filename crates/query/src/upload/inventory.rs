//! The finished files of a data set in a folder.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::Context as _;

use crate::escape;

/// The folder of plans and lists: a folder for each source.
const SOURCES: &str = "_sources";

/// A file, and its name in the store.
#[derive(Clone, Debug)]
pub struct Item {
    /// Its path below the data set.
    pub key: String,
    pub path: PathBuf,
    pub version: Version,
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
        let mut inventory = Inventory::default();
        inventory.lists = inventory.of_sources(folder, "done")?;
        for table in names(folder)?.filter(|name| !name.starts_with(['.', '_'])) {
            let mut found = Vec::new();
            walk(folder, Path::new(&table), &mut found)?;
            for path in found.into_iter().filter(|path| path.extension().is_some_and(|end| end == "parquet")) {
                let is_single = path == Path::new(&table).join(format!("{table}.parquet"));
                let item = inventory.item(folder, &path);
                if is_single { inventory.singles.extend(item) } else { inventory.rows.extend(item) }
            }
        }
        inventory.plans = inventory.of_sources(folder, "plan")?;
        Ok(inventory)
    }

    /// Returns all files.
    pub fn items(&self) -> impl Iterator<Item = &Item> {
        self.plans.iter().chain(&self.rows).chain(&self.singles).chain(&self.lists)
    }

    /// Returns the files of sources with this extension.
    fn of_sources(&mut self, folder: &Path, extension: &str) -> anyhow::Result<Vec<Item>> {
        let mut found = Vec::new();
        walk(folder, Path::new(SOURCES), &mut found)?;
        found.retain(|path| path.extension().is_some_and(|end| end == extension));
        Ok(found.iter().filter_map(|path| self.item(folder, path)).collect())
    }

    fn item(&mut self, folder: &Path, below: &Path) -> Option<Item> {
        let path = folder.join(below);
        let found = match (below.to_str(), fs::metadata(&path)) {
            (None, _) => Err("its name is not UTF-8, so it cannot be one in a store".to_owned()),
            (Some(key), _) if object_store::path::Path::parse(key).is_err() => {
                Err("its name has control characters, so it cannot be one in a store".to_owned())
            }
            (_, Err(error)) => Err(error.to_string()),
            (Some(key), Ok(metadata)) => {
                let version = Version { size: metadata.len(), modified: metadata.modified().ok() };
                Ok(Item { key: key.to_owned(), path: path.clone(), version })
            }
        };
        found.map_err(|reason| self.left_out.push(format!("left out {}: {reason}", escape::path(&path)))).ok()
    }
}

/// Returns the names in a folder that are UTF-8. Tables have such names.
fn names(folder: &Path) -> anyhow::Result<impl Iterator<Item = String>> {
    let entries = fs::read_dir(folder).and_then(Iterator::collect::<io::Result<Vec<_>>>);
    let entries = entries.with_context(|| format!("cannot read {}", escape::path(folder)))?;
    Ok(entries.into_iter().filter_map(|entry| entry.file_name().into_string().ok()))
}

/// Adds the files below a folder, in the order of their names. Names that begin with a dot are files that a converter is writing. Names
/// that begin with `_` are those of other programs: half of a `_delta_log` in the store would be a damaged Delta table.
fn walk(root: &Path, below: &Path, found: &mut Vec<PathBuf>) -> anyhow::Result<()> {
    let read = || -> io::Result<Option<Vec<_>>> {
        match fs::metadata(root.join(below)) {
            Ok(metadata) if metadata.is_dir() => {}
            Ok(_) => return Ok(None),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Some(Vec::new())),
            Err(error) => return Err(error),
        }
        fs::read_dir(root.join(below))?.map(|entry| Ok(entry?.file_name())).collect::<io::Result<_>>().map(Some)
    };
    match read().with_context(|| format!("cannot read {}", escape::path(&root.join(below))))? {
        None => found.push(below.to_owned()),
        Some(mut names) => {
            names.sort_unstable();
            for name in names.iter().filter(|name| !matches!(name.as_encoded_bytes(), [b'.' | b'_', ..])) {
                walk(root, &below.join(name), found)?;
            }
        }
    }
    Ok(())
}
