//! The file of the page. It appears under its name when it is whole.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use crate::escape;

/// Where the page goes.
pub struct Place {
    path: PathBuf,
}

impl Place {
    /// Finds out whether the page can be there, before minutes are spent on the questions.
    pub fn new(path: &Path) -> anyhow::Result<Place> {
        let fail = || format!("cannot write the page {}", escape::path(path));
        // A symbolic link stays, and its target is replaced.
        let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        if path.is_dir() {
            return Err(io::Error::from(io::ErrorKind::IsADirectory)).with_context(fail);
        }
        fs::metadata(beside(&path)).with_context(fail)?;
        Ok(Place { path })
    }

    /// Writes the page with this mode, minus the umask. An existing pipe or device is written to, and an existing file replaced.
    pub fn write(&self, page: &str, mode: u32) -> anyhow::Result<()> {
        let is_special = fs::metadata(&self.path).is_ok_and(|there| !there.is_file());
        let written = match is_special {
            true => {
                OpenOptions::new().write(true).open(&self.path).and_then(|mut file| file.write_all(page.as_bytes()))
            }
            false => self.replace(page, mode),
        };
        written.with_context(|| format!("cannot write the page {}", escape::path(&self.path)))
    }

    fn replace(&self, page: &str, mode: u32) -> io::Result<()> {
        let name = self.path.file_name().ok_or(io::ErrorKind::InvalidFilename)?.to_string_lossy();
        let partial = beside(&self.path).join(format!(".{name}.{}.partial", std::process::id()));
        let file = OpenOptions::new().write(true).create_new(true).mode(mode).open(&partial)?;
        let renamed = fill(file, page).and_then(|()| fs::rename(&partial, &self.path));
        if renamed.is_err() {
            // The first error is the one to tell.
            let _ = fs::remove_file(&partial);
        }
        renamed
    }
}

fn fill(mut file: File, page: &str) -> io::Result<()> {
    file.write_all(page.as_bytes())?;
    // Else a crash of the machine may leave an empty file under the name.
    file.sync_all()
}

/// Returns the folder that has the file.
fn beside(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}
