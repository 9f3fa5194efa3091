//! Resolves a path to the descriptor of a folder, name by name.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, Stat, fstat, mkdirat, openat, readlinkat, statat};
use rustix::io::Errno;

use crate::distrust::{Distrust, check, may_follow};

/// The most symbolic links that are followed, like in the kernel.
const MOST_LINKS: usize = 40;

/// Opens a folder for its descriptor only: without the permission to list it, if the system can.
#[cfg(any(target_os = "linux", target_os = "freebsd"))]
const FOLDER: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
#[cfg(not(any(target_os = "linux", target_os = "freebsd")))]
const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// How to walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// Every folder must exist.
    Existing,
    /// Missing folders are created, for this user only.
    Making,
    /// Every folder must exist, and no other user may be able to replace any of them: for paths that other programs resolve again.
    Guarded,
}

/// Opens the folder at `path`. The caller has to check it.
pub(crate) fn walk(path: &Path, way: Way) -> io::Result<OwnedFd> {
    let absolute;
    let path = match way {
        Way::Guarded => {
            absolute = std::path::absolute(path)?;
            absolute.as_path()
        }
        Way::Existing | Way::Making => path,
    };
    if path.as_os_str().is_empty() {
        return Err(Errno::NOENT.into());
    }
    let mut here = Here::start(if path.is_absolute() { "/" } else { "." }, way)?;
    let mut names: VecDeque<OsString> = names_of(path).collect();
    let mut links = 0;
    while let Some(name) = names.pop_front() {
        match here.enter(&name, way)? {
            Entered::Folder => {}
            Entered::Link(target) => {
                links += 1;
                if links > MOST_LINKS {
                    return Err(Errno::LOOP.into());
                }
                if target.is_absolute() {
                    here = Here::start("/", way)?;
                }
                names_of(&target).rev().for_each(|name| names.push_front(name));
            }
        }
    }
    Ok(here.fd)
}

/// The names in a path, with `..` for the folder above.
fn names_of(path: &Path) -> impl DoubleEndedIterator<Item = OsString> {
    path.components().filter_map(|component| match component {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some("..".into()),
        Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
    })
}

/// The present folder of a walk.
struct Here {
    fd: OwnedFd,
    /// For messages.
    path: PathBuf,
}

enum Entered {
    Folder,
    /// A link to this path, relative to the present folder.
    Link(PathBuf),
}

impl Here {
    fn start(path: &str, way: Way) -> io::Result<Here> {
        Here { fd: openat(CWD, path, FOLDER, Mode::empty())?, path: path.into() }.checked(way)
    }

    fn checked(self, way: Way) -> io::Result<Here> {
        if way == Way::Guarded {
            check(&self.path, &fstat(&self.fd)?)?;
        }
        Ok(self)
    }

    fn enter(&mut self, name: &OsStr, way: Way) -> io::Result<Entered> {
        let path = self.path.join(name);
        let fd = match self.open(name) {
            Err(Errno::NOENT) if way == Way::Making => {
                match mkdirat(&self.fd, name, Mode::RWXU) {
                    // If another process has created it first, it is checked like any other.
                    Ok(()) | Err(Errno::EXIST) => {}
                    Err(error) => return Err(error.into()),
                }
                self.open(name)
            }
            other => other,
        };
        match fd {
            Ok(fd) => {
                *self = Here { fd, path }.checked(way)?;
                Ok(Entered::Folder)
            }
            // Errors for a symbolic link, and for anything else that is no folder.
            Err(error @ (Errno::NOTDIR | Errno::LOOP | Errno::MLINK)) => self.link(name, &path, error),
            Err(error) => Err(error.into()),
        }
    }

    fn open(&self, name: &OsStr) -> rustix::io::Result<OwnedFd> {
        openat(&self.fd, name, FOLDER, Mode::empty())
    }

    fn link(&self, name: &OsStr, path: &Path, error: Errno) -> io::Result<Entered> {
        let stat = statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW)?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::Symlink {
            let is_folder = FileType::from_raw_mode(stat.st_mode) == FileType::Directory;
            // It is a folder now: it was replaced meanwhile.
            return Err(if is_folder { error.into() } else { Distrust::NotAFolder(path.to_owned()).into() });
        }
        let holder: Stat = fstat(&self.fd)?;
        if !may_follow(&holder, &stat) {
            return Err(Distrust::Link { path: path.to_owned(), owner: stat.st_uid }.into());
        }
        // By name again: in a folder that passes the check, no other user can have replaced it.
        let target = readlinkat(&self.fd, name, Vec::new())?;
        Ok(Entered::Link(PathBuf::from(OsString::from_vec(target.into_bytes()))))
    }
}
