//! `READDIR`: read_dir.

use std::ffi::OsString;
use std::fs::{FileType, Metadata};
use std::io;
use std::os::unix::fs::DirEntryExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::vec;

use super::symlink_metadata;
use crate::efile::{Command, Driver, Request};

/// Lists a directory, in one operation; see [`std::fs::read_dir`].
///
/// `.` and `..` are left out; the order is the system's. An error anywhere in the listing is an error of the whole.
pub async fn read_dir(path: impl AsRef<Path>) -> io::Result<ReadDir> {
    let request = Request::new(Command::Readdir).s1(path);
    let entries = Driver::global().run(request, |request| list(request.path()?)).await?;
    Ok(ReadDir { entries: entries.into_iter() })
}

fn list(path: &Path) -> io::Result<Vec<DirEntry>> {
    let directory: Arc<Path> = path.into();
    std::fs::read_dir(path)?
        .map(|entry| {
            let entry = entry?;
            Ok(DirEntry {
                directory: Arc::clone(&directory),
                inode: entry.ino(),
                file_name: entry.file_name(),
                file_type: entry.file_type().ok(),
            })
        })
        .collect()
}

/// What [`read_dir`] found.
#[derive(Debug)]
#[must_use = "the entries are given by `next_entry`"]
pub struct ReadDir {
    entries: vec::IntoIter<DirEntry>,
}

impl ReadDir {
    /// The next entry, or `None` behind the last. It is in memory already: this never waits and never fails.
    pub async fn next_entry(&mut self) -> io::Result<Option<DirEntry>> {
        Ok(self.entries.next())
    }

    /// As [`next_entry`](ReadDir::next_entry): always ready.
    pub fn poll_next_entry(&mut self, _: &mut Context<'_>) -> Poll<io::Result<Option<DirEntry>>> {
        Poll::Ready(Ok(self.entries.next()))
    }
}

/// One name in a directory.
#[derive(Clone, Debug)]
pub struct DirEntry {
    directory: Arc<Path>,
    inode: u64,
    file_name: OsString,
    file_type: Option<FileType>,
}

impl DirEntry {
    /// The directory's path, as it was given to [`read_dir`], with the name.
    pub fn path(&self) -> PathBuf {
        self.directory.join(&self.file_name)
    }

    /// The name alone.
    pub fn file_name(&self) -> OsString {
        self.file_name.clone()
    }

    /// The number of the inode that the name stands for.
    pub fn ino(&self) -> u64 {
        self.inode
    }

    /// The metadata of the name, a symbolic link not followed: an LSTAT.
    pub async fn metadata(&self) -> io::Result<Metadata> {
        symlink_metadata(self.path()).await
    }

    /// The type of the file, a symbolic link not followed. The listing told it, unless the file went away meanwhile: then
    /// an LSTAT asks.
    pub async fn file_type(&self) -> io::Result<FileType> {
        match self.file_type {
            Some(file_type) => Ok(file_type),
            None => Ok(self.metadata().await?.file_type()),
        }
    }
}
