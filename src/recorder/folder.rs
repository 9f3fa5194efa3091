//! The folders of a trace.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use super::error::{Error, Step};

/// A folder for this process in the trace: its name and its number.
pub(super) fn make(directory: &Path) -> Result<PathBuf, Error> {
    make_all(directory)?;
    let name = format!("{}-{}", process_name().replace('/', "_"), std::process::id());
    let mut folder = directory.join(&name);
    for more in 2.. {
        match DirBuilder::new().mode(0o700).create(&folder) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                folder = directory.join(format!("{name}-{more}"))
            }
            Err(error) => return Err(Error::new(Step::Folder, &folder, error)),
            Ok(()) => break,
        }
    }
    // Threads change their working directory, or rather the process's.
    fs::canonicalize(&folder).map_err(|error| Error::new(Step::Folder, &folder, error))
}

/// A folder for its owner only, and those that it is in, where they are not there.
pub(super) fn make_all(folder: &Path) -> Result<(), Error> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
    made.map_err(|error| Error::new(Step::Folder, folder, error))
}

/// A folder for its owner only.
pub(super) fn make_private(folder: &Path) -> Result<(), Error> {
    DirBuilder::new().mode(0o700).create(folder).map_err(|error| Error::new(Step::Folder, folder, error))
}

/// The name of the program.
pub(super) fn process_name() -> String {
    let path = std::env::current_exe().unwrap_or_default();
    path.file_name().map_or_else(|| "unknown".into(), |name| name.to_string_lossy().into_owned())
}
