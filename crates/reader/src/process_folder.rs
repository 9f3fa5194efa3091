//! Folders of processes in a trace.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use dyntrace_folders::Reading;

use crate::error::Error;
use crate::process::METADATA;

/// The depth of folders in which processes are searched.
const MAX_DEPTH: usize = 4;

/// The folder of a process in a trace.
///
/// It is opened below the folder that the user named, never through a symbolic link there, as the trace may be another user's.
#[derive(Debug)]
pub(crate) struct ProcessFolder {
    /// For messages.
    pub(crate) path: PathBuf,
    root: Arc<Reading>,
    below: PathBuf,
}

impl ProcessFolder {
    pub(crate) fn open(&self) -> Result<Reading, Error> {
        self.root.below(&self.below).map_err(Error::io("read the folder", &self.path))
    }
}

/// Returns the folders in and below `path` that have metadata, in the order of their names.
pub(crate) fn process_folders(path: &Path) -> Result<Vec<ProcessFolder>, Error> {
    let root = Arc::new(Reading::open(path).map_err(Error::io("read the folder", path))?);
    let mut found = Vec::new();
    let mut open = vec![(PathBuf::new(), 0)];
    while let Some((below, depth)) = open.pop() {
        let shown = if depth == 0 { path.to_owned() } else { path.join(&below) };
        let place = ProcessFolder { path: shown, root: root.clone(), below };
        let folder = place.open()?;
        if folder.has_file(METADATA).map_err(Error::io("look into the folder", &place.path))? {
            found.push(place);
        } else if depth < MAX_DEPTH {
            for name in entries(&place.path, &folder)? {
                if folder.has_folder(&name).map_err(Error::io("look into the folder", &place.path))? {
                    open.push((place.below.join(name), depth + 1));
                }
            }
        }
    }
    found.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(found)
}

/// Returns the names of the event files in the folder of a process, in order; also of pipes and symbolic links, which are not opened and
/// whose events are missing.
pub(crate) fn stream_files(path: &Path, folder: &Reading) -> Result<Vec<OsString>, Error> {
    let mut names = entries(path, folder)?;
    names.retain(|name| name != METADATA && !folder.has_folder(name).unwrap_or(false));
    names.sort();
    Ok(names)
}

/// Returns the entries of a folder that are not hidden.
fn entries(path: &Path, folder: &Reading) -> Result<Vec<OsString>, Error> {
    let mut names = folder.names().map_err(Error::io("read the folder", path))?;
    names.retain(|name| !name.as_encoded_bytes().starts_with(b"."));
    Ok(names)
}
