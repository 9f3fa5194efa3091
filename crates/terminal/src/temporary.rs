//! Temporary folders of this command, for itself and for programs that it starts.
//!
//! Tracers read scripts there by path, as root, so no other user may be able to replace a folder of that path. A signal that ends the
//! command removes the folder, too; the next command removes that of a killed one.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow};
use dyntrace_folders::{Folder, Scratch};

use crate::escape;
use crate::signals::{self, Cleanup};

/// A folder. Dropping this removes it.
pub struct Temporary(Option<Scratch>, #[expect(dead_code, reason = "kept until the end")] Cleanup);

impl Temporary {
    /// Creates a folder in `$TMPDIR`, or in `/tmp` if that is not set.
    pub fn new() -> anyhow::Result<Temporary> {
        let place = std::env::var_os("TMPDIR").map(PathBuf::from).filter(|place| place.is_absolute());
        let place = place.unwrap_or_else(|| "/tmp".into());
        let scratch = Scratch::make(&place, "dyntrace-run").with_context(|| {
            anyhow!("cannot make a temporary folder in {}: set TMPDIR to another place", escape::path(&place))
        })?;
        let path = scratch.path().to_owned();
        // After a failure, the next command removes it.
        let cleanup = signals::clean_up(move || {
            remove(&path);
        })?;
        Ok(Temporary(Some(scratch), cleanup))
    }

    /// The folder, by its descriptor.
    pub fn folder(&self) -> &Folder {
        self.scratch().folder()
    }

    /// The path of the folder.
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

fn remove(path: &Path) -> Option<()> {
    Folder::open(path.parent()?).ok()?.remove_all(path.file_name()?).ok()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use nix::libc::{ENOLCK, SYS_flock};

    use super::*;
    use crate::filtered::refuse;
    use crate::say;

    /// As on a file system without locks.
    #[test]
    fn a_lock_that_is_refused_is_the_cause_that_is_told() {
        let look = || {
            if let Err(error) = refuse(&[SYS_flock], ENOLCK) {
                say!("left out: calls cannot be filtered here: {error}");
                return;
            }
            let Err(error) = Temporary::new() else { panic!("it has a lock") };
            let told = format!("{error:#}");
            assert!(told.contains("set TMPDIR to another place: No locks available"), "{told}");
        };
        std::thread::spawn(look).join().unwrap();
    }
}
