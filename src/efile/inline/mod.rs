//! The inline path: operations that the system's caches answer, on the caller's thread.
//!
//! A read or a look-up from memory takes less time than waking an I/O thread. So, if the program enables it
//! ([`Driver::inline`](super::Driver::inline)), the driver first makes an *attempt*: a system call that does not wait for a disk or a
//! network. Operations that the caches cannot answer go to the pool.
//!
//! An attempt gives only results that the pool's job would give, too: success, and that a name does not exist. After any other error the
//! operation goes to the pool, which tries again.

#[cfg(target_os = "linux")]
mod file_systems;
#[cfg_attr(target_os = "linux", path = "linux.rs")]
#[cfg_attr(not(target_os = "linux"), path = "other.rs")]
mod system;

use std::fs::File;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::aio_pool::{Fault, Job, Lane};

pub(crate) use system::{can_open, metadata, open, read_file, symlink_metadata};

/// The most bytes that an attempt reads. Copying more would block the thread's other tasks for longer than waking an I/O thread takes.
pub(crate) const MAX_SIZE: usize = 64 << 10;

/// The result of an attempt.
pub(crate) type Attempt<T> = Result<T, Miss>;

/// Why an attempt returned no value.
#[derive(Debug)]
#[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "on systems without attempts, all are refused"))]
pub(crate) enum Miss {
    /// The operation failed, as it would in the pool.
    Error(io::Error),
    /// The caches do not have the answer, or the pool must find the error again.
    NotCached,
    /// The system does not support such attempts here.
    Refused,
    /// The type of the file system is not known yet. Asking for it may take long, so a [`DetectFileSystem`] job does.
    Unknown(File),
}

impl From<io::Error> for Miss {
    fn from(error: io::Error) -> Miss {
        Miss::Error(error)
    }
}

/// Returns the default of [`Driver::inline`](super::Driver::inline).
pub(super) fn by_default() -> bool {
    crate::environment::var("DYNTRACE_INLINE").is_some_and(|text| text == "1")
}

/// Whether to attempt reads of one open file.
#[derive(Debug)]
pub(super) struct Reads {
    // Relaxed, everywhere: one attempt more or less is harmless.
    on: AtomicBool,
    /// The flags that the file was opened with.
    flags: i32,
}

impl Reads {
    pub(super) fn of(file: &File, flags: i32, on: bool) -> Reads {
        let reads = Reads { on: AtomicBool::new(false), flags };
        reads.switch(file, on);
        reads
    }

    pub(super) fn are_on(&self) -> bool {
        self.on.load(Ordering::Relaxed)
    }

    /// Has no effect if the file system is known to refuse.
    pub(super) fn switch(&self, file: &File, on: bool) {
        self.on.store(on && system::can_read(self.flags) && !system::refuses_reads(file), Ordering::Relaxed);
    }

    /// Fills `bytes` up to the end of the file. After a miss their contents are unspecified.
    pub(super) fn read_at(&self, file: &File, bytes: &mut [u8], offset: u64) -> Attempt<usize> {
        self.note_refusal(system::read_at(file, bytes, offset))
    }

    /// Reads some bytes at the cursor; 0 only at the end of the file.
    pub(super) fn read(&self, file: &File, bytes: &mut [u8]) -> Attempt<usize> {
        self.note_refusal(system::read(file, bytes))
    }

    fn note_refusal(&self, attempt: Attempt<usize>) -> Attempt<usize> {
        if let Err(Miss::Refused) = attempt {
            self.on.store(false, Ordering::Relaxed);
        }
        attempt
    }
}

/// A job that asks for the type of a file's file system. On an I/O thread, because a network file system may not answer.
pub(super) struct DetectFileSystem(pub(super) File);

impl Job for DetectFileSystem {
    type Output = ();

    fn lane(&self) -> Lane {
        Lane::Slow
    }

    fn run(&mut self) {
        system::detect(&self.0);
    }

    /// After a failure, the next attempt asks again.
    fn settle(&mut self, _: Result<&(), &Fault>) {}
}
