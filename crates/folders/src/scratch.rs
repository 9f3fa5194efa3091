//! Folders for one process.
//!
//! `NAME-UID`, which only its user can enter, contains one folder for each process. A process holds a lock on its folder as long as it
//! lives. So a folder that can be locked belongs to a process that has ended: the next process that creates a folder there removes it.

use std::fs::{File, TryLockError};
use std::io;
use std::os::fd::AsFd as _;
use std::path::Path;

use rustix::process::geteuid;

use crate::folder::Folder;

/// A locked folder of this process, for files that other programs read by path.
#[derive(Debug)]
pub struct Scratch {
    folder: Folder,
    holder: Folder,
    /// Locked as long as this process, or a forked child, keeps it open.
    _locked: File,
}

impl Scratch {
    /// Creates a folder `NAME-UID/PID-N` in `place`, and removes those that killed processes have left there.
    ///
    /// # Errors
    ///
    /// The system's; a [`Distrust`](crate::Distrust) if another user can replace `place`, any folder above it, or a file in it.
    pub fn make(place: &Path, name: &str) -> io::Result<Scratch> {
        let place = Folder::guarded(place)?;
        let path = place.path().join(format!("{name}-{}", geteuid().as_raw()));
        let holder = Folder::make_private(&path)?;
        remove_left(&holder);
        let mut refused = None;
        for attempt in 0..100 {
            let name = format!("{}-{attempt}", std::process::id());
            let folder = match holder.create_folder(&name) {
                Ok(folder) => folder,
                // NotFound: another process saw the folder without a lock and removed it before it was opened.
                Err(error) if matches!(error.kind(), io::ErrorKind::AlreadyExists | io::ErrorKind::NotFound) => {
                    refused = Some(error);
                    continue;
                }
                Err(error) => return Err(error),
            };
            let locked = File::from(folder.as_fd().try_clone_to_owned()?);
            match locked.try_lock() {
                // Or removed it after that.
                Ok(()) if holder.is_still(&name, &locked) => {
                    return Ok(Scratch { folder, holder, _locked: locked });
                }
                // A file system without locks, or a filter of system calls. Without a lock, the next process would remove it.
                Err(TryLockError::Error(error)) => {
                    let _ = holder.remove_folder(&name);
                    return Err(error);
                }
                _ => {}
            }
        }
        Err(refused
            .unwrap_or_else(|| io::Error::other("other processes took a hundred folders away before they were locked")))
    }

    /// The folder.
    pub fn folder(&self) -> &Folder {
        &self.folder
    }

    /// Its path, which other programs of this user can resolve: no other user can replace any part of it.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Removes the folder and its contents.
    ///
    /// # Errors
    ///
    /// The system's. Then the next process removes the rest.
    pub fn remove(self) -> io::Result<()> {
        self.folder.path().file_name().map_or(Ok(()), |name| self.holder.remove_all(name))
    }
}

/// Removes folders of processes that have ended. A folder that cannot be removed stays: only this user can enter it.
fn remove_left(holder: &Folder) {
    for name in holder.names().unwrap_or_default() {
        let Ok(folder) = holder.folder(&name) else { continue };
        let Ok(locked) = folder.as_fd().try_clone_to_owned().map(File::from) else { continue };
        // A removed folder can be locked too, and a new folder may have its name. Processes remove a folder only under its
        // lock, so the name stays this folder's once it is locked.
        if locked.try_lock().is_ok() && holder.is_still(&name, &locked) {
            let _ = holder.remove_all(&name);
        }
    }
}
