//! The folders of a trace. They are made and used by descriptor (`dyntrace_folders`), so that nobody can replace one meanwhile.

use std::io;
use std::path::Path;

use dyntrace_folders::Folder;

use super::error::{Error, Step};

/// The new folder of this process in the trace, and the folder that holds it.
pub(super) struct Made {
    pub holder: Folder,
    pub folder: Folder,
}

/// Makes a folder for this process in the trace, with its name and its number.
pub(super) fn make(directory: &Path) -> Result<Made, Error> {
    let holder = make_all(directory)?;
    let name = format!("{}-{}", process_name().replace('/', "_"), std::process::id());
    let mut free = name.clone();
    for more in 2.. {
        match holder.create_folder(&free) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => free = format!("{name}-{more}"),
            Err(error) => return Err(Error::new(Step::Folder, holder.path().join(&free), error)),
            Ok(folder) => return Ok(Made { holder, folder }),
        }
    }
    unreachable!("some number is free")
}

/// Opens a folder, which is made for its owner only if it is not there, as are those that it is in.
pub(super) fn make_all(folder: &Path) -> Result<Folder, Error> {
    Folder::make(folder).map_err(|error| Error::new(Step::Folder, folder, error))
}

/// Makes a folder for its owner only.
pub(super) fn make_private(holder: &Folder, name: &str) -> Result<Folder, Error> {
    holder.create_folder(name).map_err(|error| Error::new(Step::Folder, holder.path().join(name), error))
}

impl Made {
    /// Removes the process's folder with all that is in it.
    pub(super) fn remove(&self) {
        if let Some(name) = self.folder.path().file_name() {
            // The error worth telling is why it is of no use.
            let _ = self.holder.remove_all(name);
        }
    }
}

/// The name of the program.
pub(super) fn process_name() -> String {
    let path = std::env::current_exe().unwrap_or_default();
    path.file_name().map_or_else(|| "unknown".into(), |name| name.to_string_lossy().into_owned())
}
