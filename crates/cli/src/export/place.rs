//! The folder of the circular files.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use anyhow::anyhow;
use dyntrace_terminal::exit::{self, Failure};
use dyntrace_terminal::temporary::Temporary;
use nix::unistd::geteuid;

use crate::record::folder;

pub struct StreamFolder {
    directory: PathBuf,
    /// Removes the folder when it is dropped.
    _temporary: Option<Temporary>,
}

impl StreamFolder {
    /// A temporary folder, or the `wanted` one. Only the user of this command can enter a temporary folder.
    pub fn choose(pid: u32, wanted: Option<&Path>) -> Result<StreamFolder, Failure> {
        if let Some(wanted) = wanted {
            return Ok(StreamFolder { directory: folder::choose(Some(wanted), "trace")?, _temporary: None });
        }
        // A process that is gone has no user, and is told of when it is asked to record.
        let user = fs::metadata(format!("/proc/{pid}")).map_or(geteuid().as_raw(), |there| there.uid());
        if user != geteuid().as_raw() {
            let error = anyhow!(
                "process {pid} belongs to user {user}, who cannot write to a temporary folder of this command: name a folder with --folder"
            );
            return Err(Failure::new(exit::USAGE, error));
        }
        let temporary = Temporary::new()?;
        Ok(StreamFolder { directory: temporary.path().join("trace"), _temporary: Some(temporary) })
    }

    pub fn directory(&self) -> &Path {
        &self.directory
    }
}
