//! The inline path: operations that the system answers from its caches, on the caller's thread.
//!
//! A read or a look-up whose answer is in memory takes less time than waking an I/O thread. So, where the program asked for
//! it ([`Driver::inline`](super::Driver::inline)), the driver first makes an *attempt* that the system ends without waiting
//! for a disk or a network. What it cannot answer so goes to the pool as ever.
//!
//! An attempt gives only answers that the pool's work would give, too: success, and that a name leads to nothing. Any
//! other error sends the operation to the pool, which asks again.

#[cfg(target_os = "linux")]
mod file_systems;
#[cfg_attr(target_os = "linux", path = "linux.rs")]
#[cfg_attr(not(target_os = "linux"), path = "other.rs")]
mod system;

use std::fs::File;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::aio_pool::{Fault, Lane, Work};

pub(crate) use system::{can_open, metadata, open, read_file, symlink_metadata};

/// The most bytes that an attempt reads: copying more holds up the other tasks of the thread for longer than the pool
/// would take to wake up.
pub(crate) const MAX_SIZE: usize = 64 << 10;

/// What came of an attempt.
pub(crate) type Attempt<T> = Result<T, Miss>;

/// Why an attempt has no value.
#[derive(Debug)]
#[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "where there are no attempts, all are refused"))]
pub(crate) enum Miss {
    /// The answer is an error, which the pool would get, too.
    Error(io::Error),
    /// The caches do not have it, or the error is for the pool to find again.
    NotCached,
    /// The system does not make such attempts here, now or later.
    Refused,
    /// The file system is not known yet. To ask for its kind may take long: so that is a [`Lesson`].
    Unknown(File),
}

impl From<io::Error> for Miss {
    fn from(error: io::Error) -> Miss {
        Miss::Error(error)
    }
}

/// What a driver does that was not told: the environment's `DYNTRACE_INLINE`, where 1 means yes.
pub(super) fn by_default() -> bool {
    crate::environment::var("DYNTRACE_INLINE").is_some_and(|text| text == "1")
}

/// Whether reads of one open file are attempted.
#[derive(Debug)]
pub(super) struct Reads {
    // Relaxed, everywhere: an attempt too many or too few does no harm.
    on: AtomicBool,
    /// Those that the file was opened with.
    flags: i32,
}

impl Reads {
    /// For a file that was opened with these flags.
    pub(super) fn of(file: &File, flags: i32, on: bool) -> Reads {
        let reads = Reads { on: AtomicBool::new(false), flags };
        reads.switch(file, on);
        reads
    }

    pub(super) fn are_on(&self) -> bool {
        self.on.load(Ordering::Relaxed)
    }

    /// Has no effect where the file's system is known to refuse.
    pub(super) fn switch(&self, file: &File, on: bool) {
        self.on.store(on && system::can_read(self.flags) && !system::refuses_reads(file), Ordering::Relaxed);
    }

    /// All of `bytes`, but for the end of the file. After a miss they hold anything.
    pub(super) fn read_at(&self, file: &File, bytes: &mut [u8], offset: u64) -> Attempt<usize> {
        self.heed(system::read_at(file, bytes, offset))
    }

    /// Some bytes at the cursor; 0 only at the end of the file.
    pub(super) fn read(&self, file: &File, bytes: &mut [u8]) -> Attempt<usize> {
        self.heed(system::read(file, bytes))
    }

    fn heed(&self, attempt: Attempt<usize>) -> Attempt<usize> {
        if let Err(Miss::Refused) = attempt {
            self.on.store(false, Ordering::Relaxed);
        }
        attempt
    }
}

/// Finds out of what kind a file system is: on an I/O thread, because one that lies behind a network may not answer.
pub(super) struct Lesson(pub(super) File);

impl Work for Lesson {
    type Output = ();

    fn lane(&self) -> Lane {
        Lane::Slow
    }

    fn run(&mut self) {
        system::learn(&self.0);
    }

    /// What was not learned is asked again.
    fn settle(&mut self, _: Result<&(), &Fault>) {}
}
