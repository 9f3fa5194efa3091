//! The file of the page. It appears under its name when it is whole.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use dyntrace_terminal::escape;

/// Where the page goes.
pub struct PagePlace {
    place: dyntrace_folders::OutputPlace,
    path: PathBuf,
}

impl PagePlace {
    /// Finds out whether the page can be there, before minutes are spent on the questions.
    pub fn new(path: &Path) -> anyhow::Result<PagePlace> {
        let place = dyntrace_folders::OutputPlace::of(path);
        let place = place.with_context(|| format!("cannot write the page {}", escape::path(path)))?;
        Ok(PagePlace { place, path: path.to_owned() })
    }

    /// Writes the page with this mode, minus the umask. An existing pipe or device is written to, and an existing file replaced.
    pub fn write(&self, page: &str, mode: u32) -> anyhow::Result<()> {
        let write = || {
            let mut output = self.place.create(mode)?;
            output.write_all(page.as_bytes())?;
            // Else a crash of the machine may leave an empty file under the name.
            if output.file().metadata()?.is_file() {
                output.file().sync_all()?;
            }
            output.finish()
        };
        write().with_context(|| format!("cannot write the page {}", escape::path(&self.path)))
    }
}
