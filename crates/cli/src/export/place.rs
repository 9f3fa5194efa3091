//! The folder of the circular files.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use anyhow::anyhow;
use dyntrace::recorder::{Mode, Options};
use dyntrace_terminal::escape;
use dyntrace_terminal::exit::{self, Failure};
use dyntrace_terminal::temporary::Temporary;
use nix::unistd::geteuid;

use crate::record::folder;
use crate::record::session::Session;

pub struct StreamFolder {
    pub directory: PathBuf,
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

    /// Starts a recording of these probes of process `pid` into circular files, of `size` bytes for each thread.
    pub fn record(&self, pid: u32, size: u64, probes: &[&str]) -> Result<Session, Failure> {
        let mut options = Options::new(&self.directory);
        options.mode = Mode::Overwrite;
        options.size = Some(size);
        options.probes = probes.iter().map(|&probe| probe.into()).collect();
        let session = Session::start(pid, &options)?;
        if !self.directory.exists() {
            let directory = escape::path(&self.directory);
            let error = anyhow!(
                "process {pid} records to {directory}, which is another folder for this command: the process runs in a container or has \
                 another root; run this command there"
            );
            return Err(error.into());
        }
        Ok(session)
    }
}
