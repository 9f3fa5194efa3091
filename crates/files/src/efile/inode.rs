//! The name of a file that stays the same under all its paths.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;

/// A regular file, by the numbers that stat(2) gives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Inode {
    device: u64,
    number: u64,
}

impl Inode {
    pub(super) fn new(device: u64, number: u64) -> Inode {
        Inode { device, number }
    }

    /// `None` if it is no regular file.
    pub(super) fn of(metadata: &Metadata) -> Option<Inode> {
        metadata.is_file().then(|| Inode::new(metadata.dev(), metadata.ino()))
    }
}
