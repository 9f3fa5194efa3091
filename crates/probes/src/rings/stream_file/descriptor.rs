//! The descriptor by which a stream file grows: kept open, or opened for each growth if the process has few.

use std::ffi::{CString, OsStr};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use dyntrace_folders::{Folder, NewFile};
use rustix::fs::{Mode, OFlags, fstat, open};
use rustix::io::Errno;

use crate::rings::closed_in_children::ClosedInChildren;
use crate::rings::limits::{DescriptorPermit, refuse_last};

/// The descriptor of a file, for appending.
pub(super) struct AppendDescriptor {
    path: CString,
    /// Device and inode: another file at that path is not written.
    file: (u64, u64),
    kept: Option<(ClosedInChildren, OwnedFd)>,
    /// Dropped after the descriptor.
    permit: Option<DescriptorPermit>,
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

impl AppendDescriptor {
    /// Creates the file, for its owner only.
    pub(super) fn create(folder: &Folder, name: &OsStr) -> io::Result<AppendDescriptor> {
        let path = CString::new(folder.path().join(name).into_os_string().into_encoded_bytes())?;
        let descriptor = OwnedFd::from(folder.create_file(name, NewFile::Appended)?);
        let file = identity(&descriptor)?;
        let descriptor = refuse_last(descriptor).inspect_err(|_| {
            // The file is still empty.
            let _ = folder.remove_file(name);
        })?;
        Ok(AppendDescriptor {
            path,
            file,
            kept: Some((ClosedInChildren::new(&descriptor), descriptor)),
            permit: DescriptorPermit::acquire(),
        })
    }

    /// Closes the descriptor unless there is a permit to keep it open.
    pub(super) fn close_if_scarce(&mut self) {
        if self.permit.is_none() {
            self.kept = None;
        }
    }

    /// Returns the descriptor, or opens it. Safe in signal handlers.
    ///
    /// # Errors
    ///
    /// The file cannot be opened: it was moved, the process may no longer open it, or has no descriptors left.
    pub(super) fn get(&self) -> Result<Opened<'_>, Errno> {
        let opened = match &self.kept {
            // In a forked child that continues a firing of its parent, it is closed, and the number may be another file's.
            Some((_, kept)) => Opened::Kept(kept.as_fd()),
            None => Opened::Own(refuse_last(open(&self.path, FLAGS, Mode::empty())?)?),
        };
        if identity(&opened)? == self.file { Ok(opened) } else { Err(Errno::STALE) }
    }
}

/// Device and inode.
fn identity(file: &impl AsFd) -> Result<(u64, u64), Errno> {
    let stat = fstat(file)?;
    #[allow(clippy::unnecessary_cast, reason = "other widths on other systems")]
    Ok((stat.st_dev as u64, stat.st_ino as u64))
}
