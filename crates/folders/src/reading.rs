//! Folders that are only read, of any owner.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Component, Path};

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, openat, statat};
use rustix::io::Errno;

use crate::folder::{names, single};
use crate::regular::regular;

const LISTED: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// A folder for reading, by its descriptor. It may belong to any user. That user can change its contents, but cannot lead the reader to
/// another folder, a pipe or a device.
///
/// ```
/// use std::io::Read as _;
///
/// use dyntrace_folders::Reading;
///
/// # let directory = tempfile::tempdir()?;
/// # let directory = directory.path();
/// std::fs::write(directory.join("metadata"), "/* CTF 1.8 */")?;
/// let mut text = String::new();
/// Reading::open(directory)?.file("metadata")?.read_to_string(&mut text)?;
/// assert_eq!(text, "/* CTF 1.8 */");
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Reading {
    fd: OwnedFd,
}

impl Reading {
    /// Opens the folder at `path`. Symbolic links are followed: the user has named it.
    ///
    /// # Errors
    ///
    /// The system's.
    pub fn open(path: &Path) -> io::Result<Reading> {
        Ok(Reading { fd: openat(CWD, path, LISTED, Mode::empty())? })
    }

    pub(crate) fn of(folder: BorrowedFd<'_>) -> io::Result<Reading> {
        Ok(Reading { fd: openat(folder, ".", LISTED, Mode::empty())? })
    }

    /// Opens a folder below this one, by a path of one or more names; the empty path is this folder again.
    ///
    /// # Errors
    ///
    /// The system's; [`InvalidInput`](io::ErrorKind::InvalidInput) for a path with more than names in it, and for a symbolic link.
    pub fn below(&self, path: &Path) -> io::Result<Reading> {
        let mut fd = openat(&self.fd, ".", LISTED, Mode::empty())?;
        for component in path.components() {
            let Component::Normal(name) = component else {
                return Err(io::Error::new(io::ErrorKind::InvalidInput, format!("{path:?} is not made of names only")));
            };
            fd = match openat(&fd, name, LISTED | OFlags::NOFOLLOW, Mode::empty()) {
                Err(Errno::LOOP | Errno::MLINK) => {
                    return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is a symbolic link"));
                }
                other => other?,
            };
        }
        Ok(Reading { fd })
    }

    /// Opens a regular file in this folder.
    ///
    /// # Errors
    ///
    /// The system's; [`InvalidInput`](io::ErrorKind::InvalidInput) for anything but a regular file, such as a symbolic link.
    pub fn file(&self, name: impl AsRef<OsStr>) -> io::Result<File> {
        regular(&self.fd, single(name.as_ref())?, OFlags::RDONLY)
    }

    /// Whether the name is that of a regular file.
    ///
    /// # Errors
    ///
    /// The system's, which does not tell: the name may be that of a file.
    pub fn has_file(&self, name: impl AsRef<OsStr>) -> io::Result<bool> {
        self.has(name.as_ref(), FileType::RegularFile)
    }

    /// Whether the name is that of a folder.
    ///
    /// # Errors
    ///
    /// As of [`has_file`](Self::has_file).
    pub fn has_folder(&self, name: impl AsRef<OsStr>) -> io::Result<bool> {
        self.has(name.as_ref(), FileType::Directory)
    }

    fn has(&self, name: &OsStr, kind: FileType) -> io::Result<bool> {
        match statat(&self.fd, single(name)?, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(FileType::from_raw_mode(stat.st_mode) == kind),
            Err(Errno::NOENT) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// The names in the folder, in no order.
    ///
    /// # Errors
    ///
    /// The system's.
    pub fn names(&self) -> io::Result<Vec<OsString>> {
        names(self.fd.as_fd())
    }
}

impl AsFd for Reading {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}
