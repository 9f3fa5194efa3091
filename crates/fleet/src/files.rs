//! Files that appear whole under their names.

use std::ffi::OsStr;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::process;

use crate::error::Error;

/// The end of the names of files that are not whole yet. Engines ignore names that begin with a dot.
const PARTIAL: &str = ".partial";

/// Creates the folder and those above it for files of this mode, unless they exist.
pub(crate) fn create_folder(path: &Path, mode: u32) -> Result<(), Error> {
    let may_read = mode & 0o444;
    let builder = &mut DirBuilder::new();
    builder
        .recursive(true)
        .mode(0o700 | mode | may_read >> 2)
        .create(path)
        .map_err(Error::io("create the folder", path))
}

/// A file that is not whole yet. When this is dropped, the file is removed, if it has not got its name.
pub(crate) struct Partial {
    path: PathBuf,
    name: PathBuf,
}

impl Partial {
    /// Creates a file beside the file `name`.
    pub(crate) fn create(name: &Path, mode: u32) -> Result<(Partial, File), Error> {
        let file_name = name.file_name().unwrap_or_default().to_string_lossy();
        Partial::create_as(name, &file_name, mode)
    }

    /// The same with another `start` of its own name behind the dot, which [`settle`] takes.
    pub(crate) fn create_as(name: &Path, start: &str, mode: u32) -> Result<(Partial, File), Error> {
        for number in 0.. {
            let path = name.with_file_name(format!(".{start}.{}-{number}{PARTIAL}", process::id()));
            match OpenOptions::new().write(true).create_new(true).mode(mode).open(&path) {
                Ok(file) => return Ok((Partial { path, name: name.to_owned() }, file)),
                // Of a killed converter, or of one on another machine.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(Error::io("create", &path)(error)),
            }
        }
        unreachable!("one of the numbers is free")
    }

    /// Gives the whole file its name. An equal file of that name is replaced.
    pub(crate) fn rename(self, file: &File) -> Result<(), Error> {
        file.sync_all().map_err(Error::io("write", &self.path))?;
        match fs::rename(&self.path, &self.name) {
            Err(error) if self.is_overtaken(&error) => Ok(()),
            renamed => renamed.map_err(Error::io("rename a file to", &self.name)),
        }
    }

    /// Gives the whole file its name; one of that name is replaced. Returns false if this file is gone, since another process has settled
    /// the folder meanwhile.
    pub(crate) fn rename_over(self, file: &File) -> Result<bool, Error> {
        file.sync_all().map_err(Error::io("write", &self.path))?;
        match fs::rename(&self.path, &self.name) {
            Err(error) if self.is_overtaken(&error) => Ok(false),
            renamed => renamed.map(|()| true).map_err(Error::io("rename a file to", &self.name)),
        }
    }

    /// Whether another converter has finished the range, and removed this file, which it took for left over.
    fn is_overtaken(&self, error: &io::Error) -> bool {
        error.kind() == io::ErrorKind::NotFound && self.name.exists()
    }

    /// Gives the whole file its name, unless there is a file of that name. Returns whether it has got it.
    pub(crate) fn rename_first(self, file: &File) -> Result<bool, Error> {
        file.sync_all().map_err(Error::io("write", &self.path))?;
        match fs::hard_link(&self.path, &self.name) {
            Ok(()) => Ok(true),
            // Without the partial file: another converter has finished, and took it for left over.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists || self.is_overtaken(&error) => Ok(false),
            Err(error) => Err(Error::io("link a file to", &self.name)(error)),
        }
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        // It is gone if it was renamed.
        let _ = fs::remove_file(&self.path);
    }
}

/// Creates a file with these bytes, whole, unless there is one of that name. Returns whether it did.
pub(crate) fn publish(path: &Path, bytes: &[u8], mode: u32) -> Result<bool, Error> {
    let (partial, mut file) = Partial::create(path, mode)?;
    file.write_all(bytes).map_err(Error::io("write", path))?;
    partial.rename_first(&file)
}

/// Creates a file with these bytes, whole. An equal one is replaced.
pub(crate) fn replace(path: &Path, bytes: &[u8], mode: u32) -> Result<(), Error> {
    let (partial, mut file) = Partial::create(path, mode)?;
    file.write_all(bytes).map_err(Error::io("write", path))?;
    partial.rename(&file)
}

/// Makes the names in a folder last, and removes partial files there whose names begin with `.` and `start`.
pub(crate) fn settle(folder: &Path, start: &str) -> Result<(), Error> {
    File::open(folder).and_then(|opened| opened.sync_all()).map_err(Error::io("write the folder", folder))?;
    let entries = fs::read_dir(folder).map_err(Error::io("read the folder", folder))?;
    let is_left_over = |name: &OsStr| {
        let name = name.to_string_lossy();
        name.strip_prefix('.').is_some_and(|name| name.starts_with(start)) && name.ends_with(PARTIAL)
    };
    for entry in entries.flatten().filter(|entry| is_left_over(&entry.file_name())) {
        // Another converter may remove it, too.
        let _ = fs::remove_file(entry.path());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<_> = entries.collect();
        names.sort();
        names
    }

    #[test]
    fn the_first_file_of_a_name_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("plan");
        assert!(publish(&path, b"one", 0o600).unwrap());
        assert!(!publish(&path, b"other", 0o600).unwrap());
        assert_eq!((fs::read(&path).unwrap(), names(folder.path())), (b"one".to_vec(), vec!["plan".to_owned()]));
    }

    #[test]
    fn partial_files_go_with_their_converter_or_with_the_next() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a-1.parquet");
        drop(Partial::create(&path, 0o600).unwrap());
        assert!(names(folder.path()).is_empty());
        // Killed.
        std::mem::forget(Partial::create(&path, 0o600).unwrap());
        std::mem::forget(Partial::create(&folder.path().join("b-1.parquet"), 0o600).unwrap());
        let (partial, file) = Partial::create(&path, 0o600).unwrap();
        partial.rename(&file).unwrap();
        // Removed by another converter that was faster.
        let (late, file) = Partial::create(&path, 0o600).unwrap();
        settle(folder.path(), "a-").unwrap();
        late.rename(&file).unwrap();
        let left = names(folder.path());
        assert_eq!((left.len(), left[1].as_str()), (2, "a-1.parquet"), "{left:?}");
        assert!(left[0].starts_with(".b-1.parquet."), "{left:?}");
    }

    #[test]
    fn a_partial_file_that_is_gone_without_a_whole_one_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let (partial, file) = Partial::create(&folder.path().join("a-1.parquet"), 0o600).unwrap();
        settle(folder.path(), "a-").unwrap();
        assert!(partial.rename(&file).unwrap_err().to_string().contains("a-1.parquet"));
    }
}
