//! Files that appear whole under their names.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use dyntrace_folders::{Output, OutputPlace, make_folder, open_regular};

use crate::error::Error;

/// The most bytes of a plan or a list: converters write less than a thousandth.
const LONGEST: u64 = 1 << 30;

/// Creates the folder and those above it for files of this mode, unless they exist.
pub(crate) fn create_folder(path: &Path, mode: u32) -> Result<(), Error> {
    let may_read = mode & 0o444;
    make_folder(path, 0o700 | mode | may_read >> 2).map_err(Error::io("create the folder", path))
}

/// Reads a plan or a list.
pub(crate) fn read(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    match open_regular(path)?.take(LONGEST).read_to_string(&mut text)? as u64 {
        LONGEST => Err(io::ErrorKind::FileTooLarge.into()),
        _ => Ok(text),
    }
}

/// A file that is not whole yet. When this is dropped, the file is removed, if it has not got its name.
pub(crate) struct Partial {
    output: Output,
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
        let fail = Error::io("create", name);
        let create = || {
            let output = OutputPlace::of(name)?.create_file(start, mode)?;
            let file = output.file().try_clone()?;
            Ok((Partial { output, name: name.to_owned() }, file))
        };
        create().map_err(fail)
    }

    /// Gives the whole file its name. An equal file of that name is replaced.
    pub(crate) fn rename(self, file: &File) -> Result<(), Error> {
        self.rename_over(file).map(drop)
    }

    /// Gives the whole file its name; one of that name is replaced. Returns false if this file is gone, since another process has settled
    /// the folder meanwhile.
    pub(crate) fn rename_over(self, file: &File) -> Result<bool, Error> {
        let Partial { mut output, name } = self;
        file.sync_all().map_err(Error::io("write", &name))?;
        match output.finish() {
            Err(error) if is_overtaken(&name, &error) => Ok(false),
            renamed => renamed.map(|()| true).map_err(Error::io("rename a file to", &name)),
        }
    }

    /// Gives the whole file its name, unless there is a file of that name. Returns whether it has got it.
    pub(crate) fn rename_first(self, file: &File) -> Result<bool, Error> {
        let Partial { output, name } = self;
        file.sync_all().map_err(Error::io("write", &name))?;
        match output.finish_first() {
            Err(error) if is_overtaken(&name, &error) => Ok(false),
            linked => linked.map_err(Error::io("link a file to", &name)),
        }
    }
}

/// Whether another converter has finished the range, and removed this file, which it took for left over.
fn is_overtaken(name: &Path, error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::NotFound && name.exists()
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
    dyntrace_folders::settle(folder, start).map_err(Error::io("write the folder", folder))
}

#[cfg(test)]
mod tests {
    use std::fs;

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
