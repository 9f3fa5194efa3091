//! The descriptor by which a stream file grows: kept, or opened for each growth where the process has few.

use std::ffi::{CString, OsStr};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use dyntrace_folders::{Folder, NewFile};
use rustix::fs::{Mode, OFlags, fstat, open};
use rustix::io::Errno;

use crate::recorder::closed_in_children::ClosedInChildren;
use crate::recorder::limits::{Kept, leave_the_last};

/// A file that is appended to.
pub(super) struct Descriptor {
    path: CString,
    /// The device and the number of the file: another one at that path is not written.
    file: (u64, u64),
    kept: Option<(ClosedInChildren, OwnedFd)>,
    /// Dropped after the descriptor.
    right: Option<Kept>,
}

/// A descriptor for one growth.
pub(super) enum Opened<'d> {
    Kept(BorrowedFd<'d>),
    Own(OwnedFd),
}

impl AsFd for Opened<'_> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Opened::Kept(descriptor) => *descriptor,
            Opened::Own(descriptor) => descriptor.as_fd(),
        }
    }
}

const FLAGS: OFlags =
    OFlags::RDWR.union(OFlags::APPEND).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC).union(OFlags::NOCTTY);

impl Descriptor {
    /// Of a new file, for its owner only.
    pub(super) fn create(folder: &Folder, name: &OsStr) -> io::Result<Descriptor> {
        let path = CString::new(folder.path().join(name).into_os_string().into_encoded_bytes())?;
        let descriptor = OwnedFd::from(folder.create_file(name, NewFile::Appended)?);
        let file = identity(&descriptor)?;
        let descriptor = leave_the_last(descriptor).inspect_err(|_| {
            // Nothing is in it yet.
            let _ = folder.remove_file(name);
        })?;
        Ok(Descriptor { path, file, kept: Some((ClosedInChildren::new(&descriptor), descriptor)), right: Kept::one() })
    }

    /// Closes the descriptor unless there is a right to keep it.
    pub(super) fn let_go(&mut self) {
        if self.right.is_none() {
            self.kept = None;
        }
    }

    /// Safe in signal handlers.
    ///
    /// # Errors
    ///
    /// The file cannot be opened: it was moved, the process has lost the right to, or it has no descriptors left.
    pub(super) fn get(&self) -> Result<Opened<'_>, Errno> {
        let opened = match &self.kept {
            // In a forked child that goes on with a firing of its parent's, it is closed and may be another file's.
            Some((_, kept)) => Opened::Kept(kept.as_fd()),
            None => Opened::Own(leave_the_last(open(&self.path, FLAGS, Mode::empty())?)?),
        };
        if identity(&opened)? == self.file { Ok(opened) } else { Err(Errno::STALE) }
    }
}

/// Tells files apart.
fn identity(file: &impl AsFd) -> Result<(u64, u64), Errno> {
    let stat = fstat(file)?;
    #[allow(clippy::unnecessary_cast, reason = "other widths on other systems")]
    Ok((stat.st_dev as u64, stat.st_ino as u64))
}
