//! Files for output, in places that a user names: in folders of any owner.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::{Path, PathBuf};
use std::process;

use rustix::fs::{
    AtFlags, CWD, FileType, Mode, OFlags, RawMode, Stat, fstat, fsync, linkat, openat, renameat, statat, unlinkat,
};
use rustix::io::Errno;

use crate::distrust::{Distrust, may_write, mode};
use crate::reading::Reading;
use crate::walk::{End, Way, walk, walk_to_name};

const WRITTEN: OFlags = OFlags::WRONLY.union(OFlags::NOCTTY).union(OFlags::CLOEXEC);

/// The end of the names of files that are not whole yet.
const PARTIAL: &str = ".partial";

/// A place for a file: a name in a folder, by its descriptor. A symbolic link on the way, or of that name, is followed only if no other
/// user can have made it.
#[derive(Debug)]
pub struct OutputPlace {
    end: End,
    path: PathBuf,
}

/// A file that is not whole yet. If this is dropped, the file is removed, and an earlier file of its name stays.
#[derive(Debug)]
pub struct Output {
    file: File,
    /// Its folder, its present name, and that of the whole file. `None` for a pipe or a device.
    names: Option<(OwnedFd, OsString, OsString)>,
}

impl OutputPlace {
    /// Finds the place.
    ///
    /// # Errors
    ///
    /// The system's, such as [`IsADirectory`](io::ErrorKind::IsADirectory) for a folder; a [`Distrust`] for a symbolic link that another
    /// user can change, or whose target does not exist.
    pub fn of(path: &Path) -> io::Result<OutputPlace> {
        let end = walk_to_name(path)?;
        if let End::Name(folder, name) = &end
            && let Ok(stat) = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)
            && FileType::from_raw_mode(stat.st_mode) == FileType::Directory
        {
            return Err(Errno::ISDIR.into());
        }
        Ok(OutputPlace { end, path: path.to_owned() })
    }

    /// Creates a file of this mode minus the umask. It gets its name when it is [whole](Output::finish), and no permission that an earlier
    /// file of its name lacks. An existing pipe or device, or an open file such as `/dev/stdout`, is opened instead.
    ///
    /// # Errors
    ///
    /// The system's; a [`Distrust`] for a pipe or a device that another user may have put there.
    pub fn create(&self, mode: u32) -> io::Result<Output> {
        match &self.end {
            // At the end of a regular file, which the shell may have opened to append.
            End::Descriptor(path) => {
                let file = openat(CWD, path, WRITTEN | OFlags::APPEND, Mode::empty())?.into();
                Ok(Output { file, names: None })
            }
            End::Name(folder, name) => match statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(stat) if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile => {
                    Ok(Output { file: self.special(folder, name, &stat)?, names: None })
                }
                _ => self.create_file(name, mode),
            },
        }
    }

    /// The same, always with a new file, which is called `.START.PID-NUMBER.partial` until it is whole.
    ///
    /// # Errors
    ///
    /// The system's.
    pub fn create_file(&self, start: impl AsRef<OsStr>, mode: u32) -> io::Result<Output> {
        let End::Name(folder, name) = &self.end else { return Err(Errno::INVAL.into()) };
        let mode = match statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => mode & permissions(&stat),
            Err(Errno::NOENT) => mode,
            Err(error) => return Err(error.into()),
        };
        let flags = WRITTEN | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW;
        for number in 0.. {
            let mut partial = OsString::from(".");
            partial.push(start.as_ref());
            partial.push(format!(".{}-{number}{PARTIAL}", process::id()));
            match openat(folder, &partial, flags, Mode::from_raw_mode(mode as RawMode)) {
                Ok(file) => {
                    let names = Some((folder.try_clone()?, partial, name.clone()));
                    return Ok(Output { file: file.into(), names });
                }
                // Of a killed process with this number, or of one in another container.
                Err(Errno::EXIST) => {}
                Err(error) => return Err(error.into()),
            }
        }
        unreachable!("one of the numbers is free")
    }

    /// Opens a pipe or a device. Waits for the reader of a pipe.
    fn special(&self, folder: &OwnedFd, name: &OsStr, found: &Stat) -> io::Result<File> {
        if !may_write(&fstat(folder)?, found) {
            return Err(Distrust::Special { path: self.path.clone(), owner: found.st_uid }.into());
        }
        let file = openat(folder, name, WRITTEN | OFlags::NOFOLLOW, Mode::empty())?;
        let opened = fstat(&file)?;
        if (opened.st_dev, opened.st_ino) != (found.st_dev, found.st_ino) {
            return Err(io::Error::other("it was replaced while it was opened; try again"));
        }
        Ok(file.into())
    }
}

impl Output {
    /// The file under its present name.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Gives the file its name. A file of that name is replaced.
    ///
    /// # Errors
    ///
    /// The system's.
    pub fn finish(&mut self) -> io::Result<()> {
        if let Some((folder, partial, name)) = &self.names {
            renameat(folder, partial, folder, name)?;
            self.names = None;
        }
        Ok(())
    }

    /// Gives the file its name unless there is a file of that name. Returns whether it did.
    ///
    /// # Errors
    ///
    /// As [`finish`](Self::finish).
    pub fn finish_first(self) -> io::Result<bool> {
        let Some((folder, partial, name)) = &self.names else { return Ok(true) };
        match linkat(folder, partial, folder, name, AtFlags::empty()) {
            Ok(()) => Ok(true),
            Err(Errno::EXIST) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        if let Some((folder, partial, _)) = &self.names {
            let _ = unlinkat(folder, partial, AtFlags::empty());
        }
    }
}

/// Creates the folder at `path`, and missing ones above it, with this mode minus the umask, unless it exists. Symbolic links are followed
/// as in [`OutputPlace::of`].
///
/// # Errors
///
/// The system's, and a [`Distrust`], also for a link whose target does not exist.
pub fn make_folder(path: &Path, mode: u32) -> io::Result<()> {
    if let Ok(target) = fs::read_link(path)
        && fs::metadata(path).is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
    {
        return Err(Distrust::Nowhere(target).into());
    }
    walk(path, Way::Making(Mode::from_raw_mode(mode as RawMode))).map(drop)
}

/// Makes the names in the folder at `path` last, and removes files there that are not whole and whose names begin with `.` and `start`.
///
/// # Errors
///
/// The system's, and a [`Distrust`].
pub fn settle(path: &Path, start: &str) -> io::Result<()> {
    let folder = Reading::of(walk(path, Way::Existing)?.as_fd())?;
    fsync(&folder)?;
    for name in folder.names()? {
        let shown = name.to_string_lossy();
        if shown.strip_prefix('.').is_some_and(|name| name.starts_with(start)) && shown.ends_with(PARTIAL) {
            // Another process may remove it, too.
            let _ = unlinkat(&folder, &name, AtFlags::empty());
        }
    }
    Ok(())
}

fn permissions(stat: &Stat) -> u32 {
    mode(stat) & 0o777
}
