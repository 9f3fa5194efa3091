//! The folders of a trace, created and used by descriptor (`dyntrace_folders`), so that no other process can replace one.

use std::io;
use std::path::Path;

use dyntrace_folders::Folder;

use super::error::{Error, Step};

/// A folder of this process, and the folder that holds it.
pub(super) struct ProcessFolder {
    pub holder: Folder,
    pub folder: Folder,
}

/// Creates a folder for this process in the trace, named after the program and the process number.
pub(super) fn make(directory: &Path) -> Result<ProcessFolder, Error> {
    let holder = make_all(directory)?;
    let name = format!("{}-{}", process_name().replace('/', "_"), std::process::id());
    let mut free = name.clone();
    for more in 2.. {
        match holder.create_folder(&free) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => free = format!("{name}-{more}"),
            Err(error) => return Err(Error::new(Step::Folder, holder.path().join(&free), error)),
            Ok(folder) => {
                folder.mark_used();
                return Ok(ProcessFolder { holder, folder });
            }
        }
    }
    unreachable!("some number is free")
}

/// Opens a folder. Creates it, and the folders above it, for its owner only, if missing.
pub(super) fn make_all(folder: &Path) -> Result<Folder, Error> {
    Folder::make(folder).map_err(|error| Error::new(Step::Folder, folder, error))
}

/// Creates a folder for its owner only.
pub(super) fn make_private(holder: &Folder, name: &str) -> Result<Folder, Error> {
    holder.create_folder(name).map_err(|error| Error::new(Step::Folder, holder.path().join(name), error))
}

impl ProcessFolder {
    /// Removes the process's folder and its contents.
    pub(super) fn remove(&self) {
        if let Some(name) = self.folder.path().file_name() {
            // The error to report is the one that made it useless.
            let _ = self.holder.remove_all(name);
        }
    }
}

/// The name of the program.
pub(super) fn process_name() -> String {
    let path = std::env::current_exe().unwrap_or_default();
    path.file_name().map_or_else(|| "unknown".into(), |name| name.to_string_lossy().into_owned())
}
