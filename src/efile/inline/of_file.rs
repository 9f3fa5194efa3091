//! The attempts on one open file.

use std::fs::{File, Metadata};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use super::attempt::{Attempt, MAX_SIZE, Miss};
use super::mode::{Inline, SharedMode};
use super::system::{self, IS_SUPPORTED, Place};
use super::trial::{Permit, Trial};

/// Which operations on one open file to attempt.
#[derive(Debug)]
pub(in crate::efile) struct Attempts {
    mode: SharedMode,
    /// The flags that the file was opened with.
    flags: i32,
    /// Found when the mode is first switched on. Files of a driver that is not inline pay nothing for it.
    place: OnceLock<Place>,
    // Relaxed, both: one attempt more or less is harmless.
    /// Whether a read was refused.
    are_reads_refused: AtomicBool,
    /// Whether no other descriptor, that the driver knows of, has the file's cursor. A read at it waits for a read of the other.
    is_cursor_own: AtomicBool,
}

impl Attempts {
    /// `place` is that of the file, if it is known.
    pub(in crate::efile) fn new(file: &File, flags: i32, mode: Inline, place: Option<Place>) -> Attempts {
        let attempts = Attempts {
            mode: SharedMode::new(Inline::Off),
            flags,
            place: place.map_or_else(OnceLock::new, OnceLock::from),
            are_reads_refused: AtomicBool::new(false),
            is_cursor_own: AtomicBool::new(true),
        };
        attempts.switch(file, mode);
        attempts
    }

    pub(in crate::efile) fn switch(&self, file: &File, mode: Inline) {
        if mode.is_on() && IS_SUPPORTED {
            self.place.get_or_init(|| Place::of(file));
            self.mode.set(mode);
        } else {
            self.mode.set(Inline::Off);
        }
    }

    /// Notes that another descriptor has the file's cursor, too.
    pub(in crate::efile) fn share_cursor(&self) {
        self.is_cursor_own.store(false, Ordering::Relaxed);
    }

    /// Returns the permit for a read at an offset.
    pub(in crate::efile) fn reads(&self, size: usize) -> Option<Permit> {
        let mode = self.mode.get();
        if !mode.is_on() || size > MAX_SIZE || self.are_reads_refused.load(Ordering::Relaxed) {
            return None;
        }
        let place = self.place.get().filter(|place| system::can_read(self.flags) && !place.refuses_reads())?;
        Permit::on(mode, place.reads())
    }

    /// Returns the permit for a read at the cursor.
    pub(in crate::efile) fn reads_at_cursor(&self, size: usize) -> Option<Permit> {
        let may_wait = self.mode.get() == Inline::Adaptive && !self.is_cursor_own.load(Ordering::Relaxed);
        if may_wait { None } else { self.reads(size) }
    }

    /// Returns the permit for FSTAT.
    pub(in crate::efile) fn fstats(&self) -> Option<Permit> {
        let mode = self.mode.get();
        if !mode.is_on() {
            return None;
        }
        Permit::on(mode, Some(self.place.get()?.fstats()?))
    }

    /// Returns the permit for CLOSE of a file that was only read.
    pub(in crate::efile) fn closes(&self, file: &File) -> Option<Permit> {
        let mode = self.mode.get();
        if !mode.is_on() {
            return None;
        }
        let permit = Permit::on(mode, Some(self.place.get()?.closes()?));
        permit.filter(|_| system::is_linked(file))
    }

    /// Fills `bytes` up to the end of the file. After a miss their contents are unspecified.
    pub(in crate::efile) fn read_at(
        &self,
        file: &File,
        bytes: &mut [u8],
        offset: u64,
        trial: &Trial,
    ) -> Attempt<usize> {
        self.leave_atime(file, trial)?;
        self.note_refusal(system::read_at(file, bytes, offset))
    }

    /// Reads some bytes at the cursor; 0 only at the end of the file.
    pub(in crate::efile) fn read(&self, file: &File, bytes: &mut [u8], trial: &Trial) -> Attempt<usize> {
        self.leave_atime(file, trial)?;
        self.note_refusal(system::read(file, bytes))
    }

    /// Gets the metadata. An error is found again in the pool.
    pub(in crate::efile) fn fstat(&self, file: &File) -> Attempt<Metadata> {
        file.metadata().map_err(|_| Miss::NotCached)
    }

    /// Ends an adaptive attempt if the read would write the time of the last access.
    fn leave_atime(&self, file: &File, trial: &Trial) -> Attempt<()> {
        let would_write = || self.place.get().is_none_or(|place| place.would_write_atime(file, self.flags));
        if trial.is_adaptive() && would_write() { Err(Miss::NotCached) } else { Ok(()) }
    }

    fn note_refusal(&self, attempt: Attempt<usize>) -> Attempt<usize> {
        if let Err(Miss::Refused) = attempt {
            self.are_reads_refused.store(true, Ordering::Relaxed);
        }
        attempt
    }
}
