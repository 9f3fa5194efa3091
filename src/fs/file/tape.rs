//! The buffer of a file's cursor.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};

/// Bytes between the caller and the file. It belongs to the operation in flight, and to the cursor in between.
#[derive(Default)]
pub(super) struct Tape {
    /// Never shorter than it once was: what was made zero need not be again.
    bytes: Vec<u8>,
    /// `bytes[start..end]` was read from the file and not yet by the caller.
    start: usize,
    end: usize,
    /// How far the system's cursor must step back before the next operation, because unread bytes were forgotten.
    owed: u64,
}

impl Tape {
    pub(super) fn unread(&self) -> &[u8] {
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
        self.owed = self.ahead();
        (self.start, self.end) = (0, 0);
    }

    /// In place of a tape that was lost with an operation that could not run.
    pub(super) fn lost(ahead: u64) -> Tape {
        Tape { owed: ahead, ..Tape::default() }
    }

    /// Takes what is to be written.
    pub(super) fn load(&mut self, source: &[u8]) {
        self.forget_unread();
        self.end = source.len();
        self.make_room(0);
        self.bytes[..self.end].copy_from_slice(source);
    }

    /// Reads up to `size` bytes behind the unread ones, at the system's cursor.
    pub(super) fn read(&mut self, mut file: &File, size: usize) -> io::Result<usize> {
        self.step_back(file)?;
        if self.start > 0 {
            self.bytes.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
        self.make_room(size);
        let count = loop {
            match file.read(&mut self.bytes[self.end..self.end + size]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                answer => break answer?,
            }
        };
        self.end += count;
        Ok(count)
    }

    /// Writes what was loaded, all of it.
    pub(super) fn write(&mut self, mut file: &File) -> io::Result<()> {
        let end = std::mem::take(&mut self.end);
        self.step_back(file)?;
        file.write_all(&self.bytes[..end])
    }

    /// Moves the system's cursor; the unread bytes are worth nothing then.
    pub(super) fn seek(&mut self, mut file: &File, to: SeekFrom) -> io::Result<u64> {
        let position = file.seek(to)?;
        (self.start, self.end, self.owed) = (0, 0, 0);
        Ok(position)
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
