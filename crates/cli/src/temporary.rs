//! Temporary folders of this command, for itself and for programs that it starts.
//!
//! Tracers read scripts there by path, as root. So no other user can replace any folder on that path; and the next command removes the
//! folder of one that was killed.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow};
use dyntrace_folders::Scratch;

use crate::escape;

/// A folder that is removed when this is dropped.
pub struct Temporary(Option<Scratch>);

impl Temporary {
    /// Makes one in `$TMPDIR`, or in `/tmp` where that is not set.
    pub fn new() -> anyhow::Result<Temporary> {
        let place = std::env::var_os("TMPDIR").map(PathBuf::from).filter(|place| place.is_absolute());
        let place = place.unwrap_or_else(|| "/tmp".into());
        let scratch = Scratch::make(&place, "dyntrace-run").with_context(|| {
            anyhow!("cannot make a temporary folder in {}: set TMPDIR to another place", escape::path(&place))
        })?;
        Ok(Temporary(Some(scratch)))
    }

    /// The folder, by which files are made in it.
    pub fn folder(&self) -> &dyntrace_folders::Folder {
        self.scratch().folder()
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.scratch().path()
    }

    fn scratch(&self) -> &Scratch {
        self.0.as_ref().expect("it is there until this is dropped")
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        // Else the next command removes it.
        let _ = self.0.take().map(Scratch::remove);
    }
}
