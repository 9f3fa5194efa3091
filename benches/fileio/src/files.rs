//! The files that operations work on.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tempfile::TempDir;

/// The bytes of a read, a write and an append.
pub const BLOCK: usize = 4096;
/// The bytes of a file for whole reads.
pub const SMALL: usize = 16 << 10;
const SMALLS: usize = 64;
const BLOCKS: usize = 16 << 10;

pub struct Files {
    /// 64 MiB, in the page cache.
    pub blocks: PathBuf,
    /// 16 KiB each.
    pub smalls: Vec<PathBuf>,
    /// The files of this run, which it removes at the end.
    own: TempDir,
}

impl Files {
    /// Creates missing files.
    pub fn prepare(directory: &Path) -> io::Result<Arc<Files>> {
        let blocks = directory.join("blocks");
        let smalls: Vec<_> = (0..SMALLS).map(|number| directory.join(format!("small-{number}"))).collect();
        of_length(&blocks, BLOCKS * BLOCK)?;
        for small in &smalls {
            of_length(small, SMALL)?;
        }
        Ok(Arc::new(Files { blocks, smalls, own: tempfile::tempdir_in(directory)? }))
    }

    /// Returns a file name for one task.
    pub fn own(&self, task: usize, name: &str) -> PathBuf {
        self.own.path().join(format!("{name}-{task}"))
    }

    /// Returns a file name for all tasks.
    pub fn shared(&self) -> PathBuf {
        self.own.path().join("shared")
    }

    pub fn random_offset(random: &mut fastrand::Rng) -> u64 {
        (random.usize(..BLOCKS) * BLOCK) as u64
    }
}

/// Creates a file of this length, if necessary, and caches its pages.
fn of_length(path: &Path, length: usize) -> io::Result<()> {
    match fs::read(path) {
        Ok(text) if text.len() == length => Ok(()),
        _ => {
            fs::write(path, vec![7; length])?;
            // Otherwise the disk would still write it during the measurement.
            File::open(path)?.sync_all()
        }
    }
}
