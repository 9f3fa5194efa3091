//! Reasons to refuse a folder.

use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::{FileType, Stat};
use rustix::process::geteuid;

/// Why a path is refused. Wrapped in an [`io::Error`] of kind [`PermissionDenied`](io::ErrorKind::PermissionDenied),
/// [`NotADirectory`](io::ErrorKind::NotADirectory) or [`NotFound`](io::ErrorKind::NotFound); [`Distrust::of`] unwraps it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Distrust {
    /// It is a file, a device or similar.
    #[error("{0:?} is not a folder: remove it, or name another folder")]
    NotAFolder(PathBuf),
    /// Another user can change the target of the link.
    #[error("{path:?} is a symbolic link that another user can change: name its target")]
    Link {
        /// The link.
        path: PathBuf,
        /// Its owner.
        owner: u32,
    },
    /// The target of the link does not exist. Another user may have made the link, to have the file made elsewhere.
    #[error("it is a symbolic link to {0:?}, where nothing is; remove the link, or name the file itself")]
    Nowhere(PathBuf),
    /// Another user can put a pipe or a device there, and read what is written to it.
    #[error("{path:?} is a pipe or a device of user {owner} in a folder that others can write in: name another place")]
    Special {
        /// The pipe or device.
        path: PathBuf,
        /// Its owner.
        owner: u32,
    },
    /// Its owner can change its contents.
    #[error(
        "the folder {path:?} belongs to user {owner}, not to user {own} or root: name a new folder, or do it as user {owner}"
    )]
    Owner {
        /// The folder.
        path: PathBuf,
        /// Its owner.
        owner: u32,
        /// The effective user of this process.
        own: u32,
    },
    /// Others can write in it.
    #[error("others can write in the folder {path:?} (mode {mode:o}): run chmod {by} on it, or name a new folder")]
    Open {
        /// The folder.
        path: PathBuf,
        /// Its permissions.
        mode: u32,
        /// The argument of `chmod` that forbids it.
        by: &'static str,
    },
}

impl Distrust {
    /// Returns the `Distrust` inside an error, if there is one.
    pub fn of(error: &io::Error) -> Option<&Distrust> {
        error.get_ref()?.downcast_ref()
    }
}

impl From<Distrust> for io::Error {
    fn from(distrust: Distrust) -> io::Error {
        let kind = match distrust {
            Distrust::NotAFolder(_) => io::ErrorKind::NotADirectory,
            Distrust::Nowhere(_) => io::ErrorKind::NotFound,
            _ => io::ErrorKind::PermissionDenied,
        };
        io::Error::new(kind, distrust)
    }
}

/// The permissions of a file, with the sticky bit.
pub(crate) fn mode(stat: &Stat) -> u32 {
    // The width of the field depends on the system.
    #[allow(clippy::unnecessary_cast)]
    let mode = stat.st_mode as u32;
    mode & 0o7777
}

/// Whether users other than the owner can create files in a folder with these permissions.
pub(crate) fn is_open(stat: &Stat) -> bool {
    mode(stat) & 0o022 != 0
}

/// Whether each user can remove only files of their own in the folder.
fn is_sticky(stat: &Stat) -> bool {
    mode(stat) & 0o1000 != 0
}

fn is_owner_trusted(stat: &Stat) -> bool {
    [0, geteuid().as_raw()].contains(&stat.st_uid)
}

/// Whether no other user can replace the contents of this folder.
pub(crate) fn holds(stat: &Stat) -> bool {
    is_owner_trusted(stat) && (!is_open(stat) || is_sticky(stat))
}

/// Whether the symbolic link can be followed: no other user can have created it.
pub(crate) fn may_follow(holder: &Stat, link: &Stat) -> bool {
    holds(holder) && is_owner_trusted(link)
}

/// Whether a pipe or a device can be written to: its owner is trusted, or no other user can have put it into the folder.
pub(crate) fn may_write(holder: &Stat, special: &Stat) -> bool {
    !is_open(holder) || is_owner_trusted(special) || special.st_uid == holder.st_uid
}

/// Refuses a folder whose contents another user can replace.
pub(crate) fn check(path: &Path, stat: &Stat) -> io::Result<()> {
    if FileType::from_raw_mode(stat.st_mode) != FileType::Directory {
        return Err(Distrust::NotAFolder(path.to_owned()).into());
    }
    if !is_owner_trusted(stat) {
        return Err(Distrust::Owner { path: path.to_owned(), owner: stat.st_uid, own: geteuid().as_raw() }.into());
    }
    if !holds(stat) {
        return Err(Distrust::Open { path: path.to_owned(), mode: mode(stat), by: "go-w" }.into());
    }
    Ok(())
}

/// Refuses a folder that users other than `uid` can enter, list or change.
pub(crate) fn check_private(path: &Path, stat: &Stat, uid: u32) -> io::Result<()> {
    if FileType::from_raw_mode(stat.st_mode) != FileType::Directory {
        return Err(Distrust::NotAFolder(path.to_owned()).into());
    }
    if stat.st_uid != uid {
        return Err(Distrust::Owner { path: path.to_owned(), owner: stat.st_uid, own: uid }.into());
    }
    if mode(stat) & 0o077 != 0 {
        return Err(Distrust::Open { path: path.to_owned(), mode: mode(stat), by: "700" }.into());
    }
    Ok(())
}
