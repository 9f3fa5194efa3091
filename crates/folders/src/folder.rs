//! The handle for writing.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{
    AtFlags, CWD, Dir, FlockOperation, Mode, OFlags, flock, fstat, linkat, mkdirat, openat, renameat, statat, unlinkat,
};
use rustix::io::Errno;
use rustix::process::geteuid;

use crate::distrust::{Distrust, check, check_private, is_open, mode};
use crate::reading::Reading;
use crate::regular::regular;
use crate::walk::{Way, walk};

const LISTED: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// How deep [`Folder::remove_all`] goes.
const DEEPEST: usize = 64;

/// A folder in which no other user can replace a file or a folder, by its descriptor.
///
/// Names are single names: a name with `/`, `.` and `..` are errors of kind [`InvalidInput`](io::ErrorKind::InvalidInput).
///
/// ```
/// use std::io::Write as _;
///
/// use dyntrace_folders::{Folder, NewFile};
///
/// # let directory = tempfile::tempdir()?;
/// # let directory = directory.path();
/// let folder = Folder::make(&directory.join("traces"))?.create_folder("server-4711")?;
/// folder.create_file("metadata", NewFile::Plain)?.write_all(b"/* CTF 1.8 */")?;
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Folder {
    fd: OwnedFd,
    /// For messages; nothing is opened by it.
    path: PathBuf,
}

/// The use of a new file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NewFile {
    /// It is read and written by its owner.
    Plain,
    /// The same, and every write goes to its end.
    Appended,
    /// Its owner can execute it, and cannot write to it later.
    Program,
}

impl Folder {
    /// Opens the folder at `path`, and creates it and the folders above it with mode 0700 if missing.
    ///
    /// # Errors
    ///
    /// The system's; a [`Distrust`] if the folder is another user's or others can write in it, or if another user can change a
    /// symbolic link on the way.
    pub fn make(path: &Path) -> io::Result<Folder> {
        Folder::checked(walk(path, Way::Making(Mode::RWXU))?, path)
    }

    /// Opens the folder at `path`.
    ///
    /// # Errors
    ///
    /// As [`make`](Self::make); and the folder does not exist.
    pub fn open(path: &Path) -> io::Result<Folder> {
        Folder::checked(walk(path, Way::Existing)?, path)
    }

    /// Creates the folder at `path`, which must be new. The folder above it must exist.
    ///
    /// # Errors
    ///
    /// As [`make`](Self::make); [`AlreadyExists`](io::ErrorKind::AlreadyExists) if the name is taken.
    pub fn create(path: &Path) -> io::Result<Folder> {
        let (holder, name) = holder_of(path)?;
        mkdirat(&holder, name, Mode::RWXU)?;
        Folder::checked(listed(&holder, name, path)?, path)
    }

    /// Opens the folder at `path`, no part of which another user can replace. So other programs can resolve its path.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open); and a [`Distrust`] for any of the folders above it.
    pub fn guarded(path: &Path) -> io::Result<Folder> {
        Folder::checked(walk(path, Way::Guarded)?, path)
    }

    /// Opens the folder at `path`, which only this process's user can enter. Creates it if missing. Never follows a symbolic link in its
    /// place.
    ///
    /// # Errors
    ///
    /// As [`make`](Self::make); and others can enter it.
    pub fn make_private(path: &Path) -> io::Result<Folder> {
        let (holder, name) = holder_of(path)?;
        match mkdirat(&holder, name, Mode::RWXU) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
        let fd = listed(&holder, name, path)?;
        check_private(path, &fstat(&fd)?, geteuid().as_raw())?;
        Ok(Folder::new(fd, path))
    }

    /// Opens the folder at `path` if only user `uid` can enter it. Symbolic links above it are followed: this is for folders of other
    /// users, and they choose the names themselves.
    ///
    /// # Errors
    ///
    /// The system's, and a [`Distrust`].
    pub fn private_of(path: &Path, uid: u32) -> io::Result<Folder> {
        let fd = listed(CWD, path.as_os_str(), path)?;
        check_private(path, &fstat(&fd)?, uid)?;
        Ok(Folder::new(fd, path))
    }

    fn new(fd: OwnedFd, path: &Path) -> Folder {
        let path = real_path(&fd).or_else(|| std::path::absolute(path).ok()).unwrap_or_else(|| path.to_owned());
        Folder { fd, path }
    }

    fn checked(fd: OwnedFd, path: &Path) -> io::Result<Folder> {
        let folder = Folder::new(fd, path);
        check(&folder.path, &fstat(&folder.fd)?)?;
        Ok(folder)
    }

    /// The absolute path of the folder when it was opened, for messages. It may have been renamed since.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the same folder with a new descriptor.
    ///
    /// # Errors
    ///
    /// No descriptor is left.
    pub fn try_clone(&self) -> io::Result<Folder> {
        Ok(Folder { fd: self.fd.try_clone()?, path: self.path.clone() })
    }

    /// Locks the folder as long as this handle lives, together with others that do. Programs that remove old files, such as
    /// systemd-tmpfiles, spare a locked folder and its contents. Does nothing on file systems without locks.
    pub fn mark_used(&self) {
        let _ = flock(&self.fd, FlockOperation::NonBlockingLockShared);
    }

    /// Creates a folder in this one, for this user only.
    ///
    /// # Errors
    ///
    /// The system's; [`AlreadyExists`](io::ErrorKind::AlreadyExists) if the name is taken; a [`Distrust`] if another user has replaced
    /// it meanwhile.
    pub fn create_folder(&self, name: impl AsRef<OsStr>) -> io::Result<Folder> {
        let name = single(name.as_ref())?;
        mkdirat(&self.fd, name, Mode::RWXU)?;
        self.folder(name)
    }

    /// Opens a folder in this one.
    ///
    /// # Errors
    ///
    /// The system's, and a [`Distrust`]; a symbolic link is one.
    pub fn folder(&self, name: impl AsRef<OsStr>) -> io::Result<Folder> {
        let name = single(name.as_ref())?;
        let path = self.path.join(name);
        let fd = listed(&self.fd, name, &path)?;
        check(&path, &fstat(&fd)?)?;
        Ok(Folder { fd, path })
    }

    /// Opens a folder below this one, by a path of names. Creates missing ones.
    ///
    /// # Errors
    ///
    /// As [`folder`](Self::folder) and [`create_folder`](Self::create_folder).
    pub fn make_below(&self, path: &Path) -> io::Result<Folder> {
        let mut folder = self.try_clone()?;
        for name in path {
            folder = match folder.create_folder(name) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => folder.folder(name)?,
                other => other?,
            };
        }
        Ok(folder)
    }

    /// Returns the same folder for reading.
    ///
    /// # Errors
    ///
    /// The system's.
    pub fn reading(&self) -> io::Result<Reading> {
        Reading::of(self.fd.as_fd())
    }

    /// Creates a file in this folder, for this user only.
    ///
    /// # Errors
    ///
    /// The system's; [`AlreadyExists`](io::ErrorKind::AlreadyExists) if the name is taken, also by a symbolic link; a [`Distrust`] if
    /// others can write in the folder, which is sticky then.
    pub fn create_file(&self, name: impl AsRef<OsStr>, kind: NewFile) -> io::Result<File> {
        self.check_files()?;
        let (access, mode) = match kind {
            NewFile::Plain => (OFlags::RDWR, Mode::RUSR | Mode::WUSR),
            NewFile::Appended => (OFlags::RDWR | OFlags::APPEND, Mode::RUSR | Mode::WUSR),
            NewFile::Program => (OFlags::RDWR, Mode::RUSR | Mode::XUSR),
        };
        let flags = access | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(openat(&self.fd, single(name.as_ref())?, flags, mode)?.into())
    }

    /// Opens a regular file in this folder for reading.
    ///
    /// # Errors
    ///
    /// The system's; [`InvalidInput`](io::ErrorKind::InvalidInput) for anything but a regular file.
    pub fn open_file(&self, name: impl AsRef<OsStr>) -> io::Result<File> {
        regular(&self.fd, single(name.as_ref())?, OFlags::RDONLY)
    }

    /// Opens a regular file in this folder for reading and writing.
    ///
    /// # Errors
    ///
    /// As [`open_file`](Self::open_file); and a [`Distrust`] if others can write in the folder, which is sticky then.
    pub fn open_to_write(&self, name: impl AsRef<OsStr>) -> io::Result<File> {
        self.check_files()?;
        regular(&self.fd, single(name.as_ref())?, OFlags::RDWR)
    }

    /// A sticky folder contains files of other users, which they can replace.
    fn check_files(&self) -> io::Result<()> {
        let stat = fstat(&self.fd)?;
        if is_open(&stat) {
            return Err(Distrust::Open { path: self.path.clone(), mode: mode(&stat), by: "go-w" }.into());
        }
        Ok(())
    }

    /// Renames a file or a folder in this folder. Replaces a file, or an empty folder, of the new name.
    ///
    /// # Errors
    ///
    /// The system's.
    pub fn rename(&self, from: impl AsRef<OsStr>, to: impl AsRef<OsStr>) -> io::Result<()> {
        Ok(renameat(&self.fd, single(from.as_ref())?, &self.fd, single(to.as_ref())?)?)
    }

    /// Like [`rename`](Folder::rename), but replaces nothing.
    ///
    /// # Errors
    ///
    /// The system's; [`AlreadyExists`](io::ErrorKind::AlreadyExists) if the name is taken.
    pub fn rename_new(&self, from: impl AsRef<OsStr>, to: impl AsRef<OsStr>) -> io::Result<()> {
        let (from, to) = (single(from.as_ref())?, single(to.as_ref())?);
        // By a link: not every system has a call that renames without replacing.
        linkat(&self.fd, from, &self.fd, to, AtFlags::empty())?;
        Ok(unlinkat(&self.fd, from, AtFlags::empty())?)
    }

    /// Removes a file, a socket or a symbolic link.
    ///
    /// # Errors
    ///
    /// The system's.
    pub fn remove_file(&self, name: impl AsRef<OsStr>) -> io::Result<()> {
        Ok(unlinkat(&self.fd, single(name.as_ref())?, AtFlags::empty())?)
    }

    /// Removes an empty folder.
    ///
    /// # Errors
    ///
    /// The system's.
    pub fn remove_folder(&self, name: impl AsRef<OsStr>) -> io::Result<()> {
        Ok(unlinkat(&self.fd, single(name.as_ref())?, AtFlags::REMOVEDIR)?)
    }

    /// Removes a folder and its contents. Follows no symbolic link.
    ///
    /// # Errors
    ///
    /// The system's; some of it may be removed then.
    pub fn remove_all(&self, name: impl AsRef<OsStr>) -> io::Result<()> {
        remove_all(self.fd.as_fd(), single(name.as_ref())?, DEEPEST)
    }

    /// The names in the folder, in no order.
    ///
    /// # Errors
    ///
    /// The system's.
    pub fn names(&self) -> io::Result<Vec<OsString>> {
        names(self.fd.as_fd())
    }

    /// Whether `name` in this folder is still that of the file or folder behind `opened`.
    pub fn is_still(&self, name: impl AsRef<OsStr>, opened: impl AsFd) -> bool {
        let (Ok(there), Ok(here)) = (statat(&self.fd, name.as_ref(), AtFlags::SYMLINK_NOFOLLOW), fstat(opened)) else {
            return false;
        };
        (there.st_dev, there.st_ino) == (here.st_dev, here.st_ino)
    }
}

impl AsFd for Folder {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// Removes the folder at `path` if it is empty. No other user can redirect the path: symbolic links are followed as
/// [`Folder::make`] does.
///
/// # Errors
///
/// The system's, and a [`Distrust`].
pub fn remove_empty(path: &Path) -> io::Result<()> {
    let (holder, name) = holder_of(path)?;
    Ok(unlinkat(&holder, name, AtFlags::REMOVEDIR)?)
}

/// The folder above `path`, and the last name of `path`.
fn holder_of(path: &Path) -> io::Result<(OwnedFd, &OsStr)> {
    let name = path.file_name().ok_or(Errno::INVAL)?;
    let above = path.parent().filter(|above| !above.as_os_str().is_empty()).unwrap_or(Path::new("."));
    Ok((walk(above, Way::Existing)?, name))
}

/// Opens a folder, and never a symbolic link.
fn listed(holder: impl AsFd, name: &OsStr, path: &Path) -> io::Result<OwnedFd> {
    match openat(holder, name, LISTED, Mode::empty()) {
        Err(Errno::LOOP | Errno::NOTDIR | Errno::MLINK) => Err(Distrust::NotAFolder(path.to_owned()).into()),
        other => Ok(other?),
    }
}

/// Refuses anything but a single name.
pub(crate) fn single(name: &OsStr) -> io::Result<&OsStr> {
    if name.is_empty() || name == "." || name == ".." || name.as_bytes().contains(&b'/') {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, format!("{name:?} is not a single name")));
    }
    Ok(name)
}

/// The names in a folder, by a new descriptor: the given one may have been opened for its path only.
pub(crate) fn names(folder: BorrowedFd<'_>) -> io::Result<Vec<OsString>> {
    let listed = openat(folder, ".", LISTED, Mode::empty())?;
    let mut names = Vec::new();
    for entry in Dir::new(listed)? {
        let name = OsStr::from_bytes(entry?.file_name().to_bytes()).to_owned();
        if name != "." && name != ".." {
            names.push(name);
        }
    }
    Ok(names)
}

fn remove_all(holder: BorrowedFd<'_>, name: &OsStr, depth: usize) -> io::Result<()> {
    let folder = openat(holder, name, LISTED, Mode::empty())?;
    for name in names(folder.as_fd())? {
        match unlinkat(&folder, &name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => {}
            // The errors of unlinkat(2) for a folder.
            Err(Errno::ISDIR | Errno::PERM) if depth > 0 => remove_all(folder.as_fd(), &name, depth - 1)?,
            Err(error) => return Err(error.into()),
        }
    }
    Ok(unlinkat(holder, name, AtFlags::REMOVEDIR)?)
}

/// Where the folder is, as the system knows it.
#[cfg(target_os = "linux")]
fn real_path(fd: &OwnedFd) -> Option<PathBuf> {
    use std::os::fd::AsRawFd as _;
    let path = std::fs::read_link(format!("/proc/self/fd/{}", fd.as_raw_fd())).ok()?;
    path.is_absolute().then_some(path)
}

#[cfg(not(target_os = "linux"))]
fn real_path(_: &OwnedFd) -> Option<PathBuf> {
    None
}
