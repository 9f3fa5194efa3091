//! The progress of a recording, on a terminal.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use indicatif::{HumanBytes, ProgressBar, ProgressStyle};

/// The time between two updates.
pub const PAUSE: Duration = Duration::from_millis(250);

/// Shows how much was written.
pub struct Progress {
    directory: PathBuf,
    bar: ProgressBar,
}

impl Progress {
    pub fn new(directory: &Path) -> Progress {
        // The bar hides itself if standard error is no terminal.
        let style =
            ProgressStyle::with_template("{spinner} recording {msg}, {elapsed}").expect("the template is right");
        Progress { directory: directory.to_owned(), bar: ProgressBar::new_spinner().with_style(style) }
    }

    pub fn show(&mut self) {
        if !self.bar.is_hidden() {
            self.bar.set_message(HumanBytes(bytes(&self.directory)).to_string());
            self.bar.tick();
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// The bytes of the files in and below `directory`. Unreadable ones count as empty.
pub fn bytes(directory: &Path) -> u64 {
    let entries = fs::read_dir(directory).into_iter().flatten().filter_map(Result::ok);
    let of_entry = |entry: fs::DirEntry| match entry.metadata() {
        Ok(metadata) if metadata.is_dir() => bytes(&entry.path()),
        Ok(metadata) => metadata.len(),
        Err(_) => 0,
    };
    entries.map(of_entry).sum()
}
