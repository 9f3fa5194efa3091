//! The inline path: operations that the system's caches answer, on the caller's thread.
//!
//! A read or a look-up from memory takes less time than waking an I/O thread. So, where its switch is on
//! ([`Driver::inline`](super::Driver::inline)), the driver first makes an *attempt*: a system call that does not wait for a disk or a
//! network. Operations that the caches cannot answer go to the pool. Commands that have no such system call are never attempted: renames,
//! writes on most file systems and closes of written files may wait for the journal of the file system. A seek and the close of a file that
//! was only read wait for nothing; the close is made where the file is used last.
//!
//! In adaptive mode the driver also learns, for each command on each file system, where attempts are slow or miss
//! ([`back_off`]), and a thread's answers in a row are limited ([`turn`]). [`trial`] has the steps of an attempt.
//!
//! An attempt gives only results that the pool's job would give, too: success, and that a name does not exist. After any other error the
//! operation goes to the pool, which tries again. So no attempt may take what the system gives only once: only regular files are read and
//! written, and a close, whose result is final, is not repeated.

#[cfg(target_os = "linux")]
mod atime;
mod attempt;
mod back_off;
#[cfg(target_os = "linux")]
mod file_systems;
mod mode;
mod of_file;
#[cfg(target_os = "linux")]
mod opens;
#[cfg_attr(not(target_os = "linux"), path = "no_sleeps.rs")]
mod sleeps;
#[cfg_attr(target_os = "linux", path = "linux.rs")]
#[cfg_attr(not(target_os = "linux"), path = "other.rs")]
mod system;
mod trial;
mod turn;

use std::fs::File;

use dyntrace_probes::sdt::Decision;

use crate::aio_pool::{Fault, Job, Lane};

#[cfg(test)]
pub(super) use attempt::MAX_SIZE;
pub(crate) use attempt::{Attempt, Miss};
#[cfg(test)]
pub(super) use back_off::BackOff;
pub use mode::Inline;
pub(super) use of_file::Attempts;
pub(super) use system::FileSystemPlace;
#[cfg(test)]
pub(super) use system::detect;
pub(super) use system::{cached_inode, inode_of, write};
pub(crate) use system::{can_open, canonicalize, metadata, open, read_file, read_link, symlink_metadata};
pub(crate) use trial::{Permit, Trial};

/// Whether this system has attempts at all.
pub(super) const IS_SUPPORTED: bool = system::IS_SUPPORTED;

/// A job that asks for the type of a file's file system and, if the attempt opens the file, tries that. On an I/O thread, because a network
/// file system or another process may not answer.
pub(super) struct DetectFileSystem {
    pub(super) file: File,
    pub(super) is_opened: bool,
}

impl Job for DetectFileSystem {
    type Output = ();

    fn lane(&self) -> Lane {
        Lane::Slow
    }

    /// It has no entry.
    fn taken(&self) -> Decision {
        Decision::UNSEEN
    }

    fn run(&mut self) {
        system::detect(&self.file, self.is_opened);
    }

    fn settle(&mut self, _: Result<&(), &Fault>) {
        system::detected(&self.file);
    }
}
