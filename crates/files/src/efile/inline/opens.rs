//! Opens that may ask another process.
//!
//! No flag keeps open(2) from hooks of the kernel that wait, although the name is cached and the file system local:
//!
//! - Permission events of fanotify(7): a virus scanner allows each open and, if it asks for that, each read. A daemon may watch files that
//!   it opens itself; if the thread that answers is the one that waits, both wait for ever.
//! - Security modules. TOMOYO and prompts of AppArmor ask a daemon, programs of BPF may sleep, and IMA reads the whole file.
//! - overlayfs, which counts as local, but may lie over NFS or FUSE: then the server is asked.
//! - fs-verity, which reads a part of the file.
//! - A supervisor of seccomp(2), which is asked for each system call.
//!
//! Nothing tells beforehand whether a hook waits. So the first open on each file system is not attempted: a job opens the file once more,
//! and counts the thread's sleeps. Opens are attempted while the last such job found none. After a pause of the
//! [back-off](super::back_off) that began with a sleep, the next open is again a job's: so a process that is asked from now on stops a
//! thread of the program until the back-off has learned it, and no longer. Reads are attempted unless the job's read of no bytes slept, which asks fanotify only.
//!
//! If this process has a group of fanotify, the job opens nothing and counts as one that slept: it might wait for an answer of the thread
//! that waits for it.

use std::fs::{self, File};
use std::io::Result;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags};

use super::sleeps;

/// The findings of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tried {
    /// Neither the open nor the read slept.
    AsksNobody,
    OpenSlept,
    ReadSlept,
    /// The open failed.
    NotOpened,
}

/// Opens a regular file again, and reads nothing from it.
pub(super) fn try_open(file: &File) -> Tried {
    if has_fanotify_group() {
        return Tried::ReadSlept;
    }
    // The descriptor, not the name, which may lead to a device meanwhile.
    let path = Path::new(OWN_DESCRIPTORS).join(file.as_raw_fd().to_string());
    let before = sleeps::of_this_thread();
    let Ok(file) = rustix::fs::openat(CWD, &path, OFlags::CLOEXEC | OFlags::NONBLOCK, Mode::empty()) else {
        return Tried::NotOpened;
    };
    let opened = sleeps::of_this_thread();
    let _ = rustix::io::pread(&file, &mut [0_u8; 0], 0);
    match sleeps::of_this_thread() {
        read if read != opened => Tried::ReadSlept,
        _ if opened != before => Tried::OpenSlept,
        _ => Tried::AsksNobody,
    }
}

pub(super) const OWN_DESCRIPTORS: &str = "/proc/self/fd";

fn has_fanotify_group() -> bool {
    let is_group = |path: PathBuf| fs::read_link(path).is_ok_and(|target| target == Path::new("anon_inode:[fanotify]"));
    let find = || -> Result<bool> { Ok(fs::read_dir(OWN_DESCRIPTORS)?.flatten().any(|entry| is_group(entry.path()))) };
    find().unwrap_or(false)
}
