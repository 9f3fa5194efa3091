//! Resolves a path to the descriptor of a folder, name by name.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
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
    /// Missing folders are created, with this mode minus the umask.
    Making(Mode),
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
        Way::Existing | Way::Making(_) => path,
    };
    let mut steps = Steps::begin(path, way)?;
    while let Some(name) = steps.names.pop_front() {
        if let Entered::Link(target) = steps.here.enter(&name, way)? {
            steps.follow(&target, way)?;
        }
    }
    Ok(steps.here.fd)
}

/// The place to which a path leads whose last name need not be that of a folder.
#[derive(Debug)]
pub(crate) enum End {
    /// A name in a folder, which is free, or not that of a symbolic link.
    Name(OwnedFd, OsString),
    /// An open file of a process. The kernel's link leads to the file itself, which may have no path.
    Descriptor(PathBuf),
}

/// Walks to the folder that has the last name of `path`. A symbolic link of that name is followed as those on the way are.
pub(crate) fn walk_to_name(path: &Path) -> io::Result<End> {
    if is_descriptor(path) {
        return Ok(End::Descriptor(path.to_owned()));
    }
    let mut steps = Steps::begin(path, Way::Existing)?;
    let mut first_link = None;
    while let Some(name) = steps.names.pop_front() {
        if !steps.names.is_empty() || name == ".." {
            if let Entered::Link(target) = steps.here.enter(&name, Way::Existing)? {
                steps.follow(&target, Way::Existing)?;
            }
            continue;
        }
        match (steps.here.link(&name), &first_link) {
            (Ok(None), _) => return Ok(End::Name(steps.here.fd, name)),
            (Ok(Some(target)), _) if is_descriptor(&target) => return Ok(End::Descriptor(target)),
            (Ok(Some(target)), _) => {
                steps.follow(&target, Way::Existing)?;
                first_link.get_or_insert(target);
            }
            (Err(error), None) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(End::Name(steps.here.fd, name));
            }
            (Err(error), Some(target)) if error.kind() == io::ErrorKind::NotFound => {
                return Err(Distrust::Nowhere(target.clone()).into());
            }
            (Err(error), _) => return Err(error),
        }
    }
    Err(Errno::ISDIR.into())
}

/// Whether the path is the system's name for an open file of a process.
fn is_descriptor(path: &Path) -> bool {
    let is_number = |name: &OsStr| name.as_bytes().iter().all(u8::is_ascii_digit);
    let names: Vec<&OsStr> = path.iter().collect();
    match names[..] {
        [root, dev, stream] if root == "/" && dev == "dev" => stream == "stdout" || stream == "stderr",
        [root, dev, fd, number] if root == "/" && dev == "dev" && fd == "fd" => is_number(number),
        [root, proc, _, fd, number] if root == "/" && proc == "proc" && fd == "fd" => is_number(number),
        _ => false,
    }
}

/// The names in a path, with `..` for the folder above.
fn names_of(path: &Path) -> impl DoubleEndedIterator<Item = OsString> {
    path.components().filter_map(|component| match component {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some("..".into()),
        Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
    })
}

/// A walk that is under way.
struct Steps {
    here: Here,
    names: VecDeque<OsString>,
    links: usize,
}

impl Steps {
    fn begin(path: &Path, way: Way) -> io::Result<Steps> {
        if path.as_os_str().is_empty() {
            return Err(Errno::NOENT.into());
        }
        let here = Here::start(if path.is_absolute() { "/" } else { "." }, way)?;
        Ok(Steps { here, names: names_of(path).collect(), links: 0 })
    }

    /// Puts the target of a link in front of the names that are left.
    fn follow(&mut self, target: &Path, way: Way) -> io::Result<()> {
        self.links += 1;
        if self.links > MOST_LINKS {
            return Err(Errno::LOOP.into());
        }
        if target.is_absolute() {
            self.here = Here::start("/", way)?;
        }
        names_of(target).rev().for_each(|name| self.names.push_front(name));
        Ok(())
    }
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
        let fd = match (self.open(name), way) {
            (Err(Errno::NOENT), Way::Making(mode)) => {
                match mkdirat(&self.fd, name, mode) {
                    // If another process has created it first, it is checked like any other.
                    Ok(()) | Err(Errno::EXIST) => {}
                    Err(error) => return Err(error.into()),
                }
                self.open(name)
            }
            (other, _) => other,
        };
        match fd {
            Ok(fd) => {
                *self = Here { fd, path }.checked(way)?;
                Ok(Entered::Folder)
            }
            // Errors for a symbolic link, and for anything else that is no folder.
            Err(error @ (Errno::NOTDIR | Errno::LOOP | Errno::MLINK)) => match self.link(name)? {
                Some(target) => Ok(Entered::Link(target)),
                // It is a folder now: it was replaced meanwhile.
                None if self.open(name).is_ok() => Err(error.into()),
                None => Err(Distrust::NotAFolder(path).into()),
            },
            Err(error) => Err(error.into()),
        }
    }

    fn open(&self, name: &OsStr) -> rustix::io::Result<OwnedFd> {
        openat(&self.fd, name, FOLDER, Mode::empty())
    }

    /// The target of the symbolic link of this name. `None` if the name is not that of a link.
    fn link(&self, name: &OsStr) -> io::Result<Option<PathBuf>> {
        let stat = statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW)?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::Symlink {
            return Ok(None);
        }
        let holder: Stat = fstat(&self.fd)?;
        if !may_follow(&holder, &stat) {
            return Err(Distrust::Link { path: self.path.join(name), owner: stat.st_uid }.into());
        }
        // By name again: in a folder that passes the check, no other user can have replaced it.
        let target = readlinkat(&self.fd, name, Vec::new())?;
        Ok(Some(PathBuf::from(OsString::from_vec(target.into_bytes()))))
    }
}
