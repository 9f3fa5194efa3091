//! The attempts on one open file.

use std::fs::{File, Metadata};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use super::attempt::{Attempt, MAX_SIZE, Miss};
use super::back_off::{BackOff, microseconds};
use super::mode::{Inline, SharedMode};
use super::system::{self, FileSystemPlace, IS_SUPPORTED};
use super::trial::{Permit, Trial};

/// How long a look at a file's times holds. A read that follows a change within this time has the system write the time of its access, which
/// may be slow: then the back-off learns it.
pub(super) const LOOK_HOLDS: Duration = Duration::from_millis(1);

/// Which operations on one open file to attempt.
#[derive(Debug)]
pub(in crate::efile) struct Attempts {
    mode: SharedMode,
    /// The flags that the file was opened with.
    flags: i32,
    /// Found when the mode is first switched on. Files of a driver that is not inline pay nothing for it.
    place: OnceLock<FileSystemPlace>,
    // Relaxed, all: one attempt more or less is harmless.
    /// Until when no read writes the time of the last access, in microseconds of the monotonic clock: as a look at the file's times found.
    keeps_atime_until: AtomicU64,
    /// Whether a read was refused.
    are_reads_refused: AtomicBool,
    /// Whether no other descriptor, that the driver knows of, has the file's cursor. A read at it waits for a read of the other.
    is_cursor_own: AtomicBool,
}

impl Attempts {
    /// `place` is that of the file, if it is known.
    pub(in crate::efile) fn new(file: &File, flags: i32, mode: Inline, place: Option<FileSystemPlace>) -> Attempts {
        let attempts = Attempts {
            mode: SharedMode::new(Inline::Off),
            flags,
            place: place.map_or_else(OnceLock::new, OnceLock::from),
            keeps_atime_until: AtomicU64::new(0),
            are_reads_refused: AtomicBool::new(false),
            is_cursor_own: AtomicBool::new(true),
        };
        attempts.switch(file, mode);
        attempts
    }

    pub(in crate::efile) fn mode(&self) -> Inline {
        self.mode.get()
    }

    pub(in crate::efile) fn switch(&self, file: &File, mode: Inline) {
        if mode.is_on() && IS_SUPPORTED {
            self.place.get_or_init(|| FileSystemPlace::of(file));
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
        if self.cursor_may_wait() { None } else { self.reads(size) }
    }

    /// Returns the permit for a write at an offset.
    pub(in crate::efile) fn writes(&self, size: usize) -> Option<Permit> {
        if size > MAX_SIZE || !system::can_write(self.flags) { None } else { self.local(FileSystemPlace::writes) }
    }

    /// Returns the permit for a write at the cursor.
    pub(in crate::efile) fn writes_at_cursor(&self, size: usize) -> Option<Permit> {
        if self.cursor_may_wait() { None } else { self.writes(size) }
    }

    /// Returns the permit for LSEEK.
    pub(in crate::efile) fn seeks(&self) -> Option<Permit> {
        if self.cursor_may_wait() { None } else { self.local(FileSystemPlace::seeks) }
    }

    /// Returns the permit for FSTAT.
    pub(in crate::efile) fn fstats(&self) -> Option<Permit> {
        self.local(FileSystemPlace::fstats)
    }

    /// Returns the permit for CLOSE of a file that was only read.
    pub(in crate::efile) fn closes(&self, file: &File) -> Option<Permit> {
        self.local(FileSystemPlace::closes).filter(|_| system::is_linked(file))
    }

    /// Has the kind of the file system found out, if it matters and is not known. May block.
    pub(in crate::efile) fn detect(&self, file: &File) {
        if let Some(place) = self.place.get() {
            place.detect(file);
        }
    }

    /// An attempt has a permit, so the mode was on.
    fn place(&self) -> FileSystemPlace {
        *self.place.get().expect("the place is found when the mode is switched on")
    }

    fn local(&self, back_off: impl FnOnce(FileSystemPlace) -> Option<&'static BackOff>) -> Option<Permit> {
        let mode = self.mode.get();
        if !mode.is_on() {
            return None;
        }
        Permit::on(mode, Some(back_off(*self.place.get()?)?))
    }

    /// Returns whether an operation at the cursor may wait for one of another descriptor.
    fn cursor_may_wait(&self) -> bool {
        self.mode.get() == Inline::Adaptive && !self.is_cursor_own.load(Ordering::Relaxed)
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
        self.note_refusal(system::read_at(self.place(), file, bytes, offset, trial))
    }

    /// Reads some bytes at the cursor; 0 only at the end of the file.
    pub(in crate::efile) fn read(&self, file: &File, bytes: &mut [u8], trial: &Trial) -> Attempt<usize> {
        self.leave_atime(file, trial)?;
        self.note_refusal(system::read(self.place(), file, bytes, trial))
    }

    /// Gets the metadata. An error is found again in the pool.
    pub(in crate::efile) fn fstat(&self, file: &File) -> Attempt<Metadata> {
        file.metadata().map_err(|_| Miss::NotCached)
    }

    /// Ends an adaptive attempt if the read would write the time of the last access.
    fn leave_atime(&self, file: &File, trial: &Trial) -> Attempt<()> {
        if !trial.is_adaptive() || microseconds(trial.began()) < self.keeps_atime_until.load(Ordering::Relaxed) {
            return Ok(());
        }
        if self.place.get().is_none_or(|place| place.would_write_atime(file, self.flags)) {
            return Err(Miss::NotCached);
        }
        self.keeps_atime_until.store(microseconds(trial.began() + LOOK_HOLDS), Ordering::Relaxed);
        Ok(())
    }

    fn note_refusal(&self, attempt: Attempt<usize>) -> Attempt<usize> {
        if let Err(Miss::Refused) = attempt {
            self.are_reads_refused.store(true, Ordering::Relaxed);
        }
        attempt
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::fs::FileTimes;
    use std::thread;
    use std::time::SystemTime;

    use super::*;

    #[test]
    fn a_look_at_the_times_holds_for_a_while() {
        static BACK_OFF: BackOff = BackOff::new();
        let permit = Permit::on(Inline::Adaptive, Some(&BACK_OFF)).unwrap();
        let file = tempfile::tempfile().unwrap();
        let attempts = Attempts::new(&file, 0, Inline::Adaptive, None);
        let now = SystemTime::now();
        let [late, early] = [now + Duration::from_secs(60), SystemTime::UNIX_EPOCH];
        let set_read = |time| file.set_times(FileTimes::new().set_accessed(time).set_modified(now)).unwrap();
        let would_write_after = |read| {
            set_read(read);
            attempts.place.get().unwrap().would_write_atime(&file, 0)
        };
        let leaves = |trial: &Trial| attempts.leave_atime(&file, trial).is_ok();

        // Another mount than one with `relatime` has the same answer for all times.
        if would_write_after(late) || !would_write_after(early) {
            return;
        }
        let first = permit.begin();
        assert!(!leaves(&first));
        set_read(late);
        assert!(leaves(&first));
        set_read(early);
        assert!(leaves(&first), "the look holds");
        thread::sleep(2 * LOOK_HOLDS);
        assert!(!leaves(&permit.begin()), "another look finds the new times");
    }
}
