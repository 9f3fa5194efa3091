//! The buffer of a file's cursor.

use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};

/// Bytes between the caller and the file. It belongs to the operation in flight, and to the cursor in between.
#[derive(Default)]
pub(super) struct Tape {
    /// Never shorter than it once was: what was made zero need not be again.
    bytes: Vec<u8>,
    /// `bytes[start..end]` was read from the file and not yet by the caller, or is yet to be written.
    start: usize,
    end: usize,
    /// Whether those bytes are to be written. Never while there are none.
    unwritten: bool,
    /// How far the system's cursor must step back before the next operation, because unread bytes were forgotten.
    owed: u64,
}

impl Tape {
    pub(super) fn unread(&self) -> &[u8] {
        if self.unwritten { &[] } else { self.held() }
    }

    pub(super) fn unwritten(&self) -> &[u8] {
        if self.unwritten { self.held() } else { &[] }
    }

    fn held(&self) -> &[u8] {
        &self.bytes[self.start..self.end]
    }

    /// The caller has read so many of the unread bytes.
    pub(super) fn consume(&mut self, count: usize) {
        self.start += count;
        debug_assert!(self.start <= self.end);
    }

    /// How far the system's cursor is ahead of the caller's.
    pub(super) fn ahead(&self) -> u64 {
        self.owed + self.unread().len() as u64
    }

    /// Drops the unread bytes: they are to be read again.
    pub(super) fn forget_unread(&mut self) {
        if !self.unwritten {
            self.owed = self.ahead();
            (self.start, self.end) = (0, 0);
        }
    }

    /// In place of a tape that was lost with an operation that could not run.
    pub(super) fn lost(ahead: u64) -> Tape {
        Tape { owed: ahead, ..Tape::default() }
    }

    /// Takes up to `size` bytes that are to be written, and says how many. None may be left from before.
    pub(super) fn load<'a>(&mut self, sources: impl Iterator<Item = &'a [u8]>, size: usize) -> usize {
        debug_assert!(!self.unwritten);
        self.forget_unread();
        for source in sources {
            let source = &source[..source.len().min(size - self.end)];
            self.make_room(source.len());
            self.bytes[self.end..self.end + source.len()].copy_from_slice(source);
            self.end += source.len();
        }
        self.unwritten = self.end > 0;
        self.end
    }

    /// Has `read` read up to `size` bytes behind the unread ones, at the system's cursor.
    pub(super) fn read<E: From<io::Error>>(
        &mut self,
        file: &File,
        size: usize,
        read: impl FnOnce(&mut [u8]) -> Result<usize, E>,
    ) -> Result<usize, E> {
        debug_assert!(!self.unwritten);
        self.step_back(file)?;
        if self.start > 0 {
            self.bytes.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
        self.make_room(size);
        let count = read(&mut self.bytes[self.end..self.end + size])?;
        self.end += count;
        Ok(count)
    }

    /// Writes what is unwritten. After an error, what the file did not take is so still.
    pub(super) fn write(&mut self, mut file: &File) -> io::Result<()> {
        self.step_back(file)?;
        while self.start < self.end {
            match file.write(self.held()) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(count) => self.start += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        self.empty();
        Ok(())
    }

    /// Moves the system's cursor; the bytes that are held are worth nothing then.
    pub(super) fn seek(&mut self, mut file: &File, to: SeekFrom) -> io::Result<u64> {
        let position = file.seek(to)?;
        self.empty();
        self.owed = 0;
        Ok(position)
    }

    /// Moves the system's cursor to the caller's, if that is possible: who has another way to the file reads on there.
    pub(super) fn return_unread(&mut self, mut file: &File) {
        let ahead = self.ahead();
        if ahead > 0 && file.seek_relative(-(ahead as i64)).is_ok() {
            self.forget_unread();
            self.owed = 0;
        }
    }

    fn empty(&mut self) {
        (self.start, self.end, self.unwritten) = (0, 0, false);
    }

    fn step_back(&mut self, mut file: &File) -> io::Result<()> {
        if self.owed > 0 {
            file.seek_relative(-(self.owed as i64))?;
            self.owed = 0;
        }
        Ok(())
    }

    fn make_room(&mut self, size: usize) {
        if self.bytes.len() < self.end + size {
            self.bytes.resize(self.end + size, 0);
        }
    }
}
