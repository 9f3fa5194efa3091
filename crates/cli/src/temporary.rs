//! Temporary folders of this command, for itself and for programs that it starts.
//!
//! Tracers read scripts there by path, as root, so no other user may be able to replace a folder of that path. The next command removes
//! the folder of a killed one.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow};
use dyntrace_folders::Scratch;

use crate::escape;

/// A folder. Dropping this removes it.
pub struct Temporary(Option<Scratch>);

impl Temporary {
    /// Creates a folder in `$TMPDIR`, or in `/tmp` if that is not set.
    pub fn new() -> anyhow::Result<Temporary> {
        let place = std::env::var_os("TMPDIR").map(PathBuf::from).filter(|place| place.is_absolute());
        let place = place.unwrap_or_else(|| "/tmp".into());
        let scratch = Scratch::make(&place, "dyntrace-run").with_context(|| {
            anyhow!("cannot make a temporary folder in {}: set TMPDIR to another place", escape::path(&place))
        })?;
        Ok(Temporary(Some(scratch)))
    }

    pub fn folder(&self) -> &dyntrace_folders::Folder {
        self.scratch().folder()
    }

    pub fn path(&self) -> &Path {
        self.scratch().path()
    }

    fn scratch(&self) -> &Scratch {
        self.0.as_ref().expect("only drop removes it")
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        // After a failure, the next command removes it.
        let _ = self.0.take().map(Scratch::remove);
    }
}
