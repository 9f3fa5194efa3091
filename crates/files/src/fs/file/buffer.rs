//! The buffer of a file's cursor.

use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};

use rustix::io::Errno;

/// Bytes between the caller and the file: read ahead, or accepted and not written yet. The operation in flight owns it; between
/// operations the cursor does.
#[derive(Default)]
pub(super) struct Buffer {
    /// Never shrinks, so that each byte is zeroed only once.
    bytes: Vec<u8>,
    /// `bytes[start..middle]` was read from the file and not yet taken by the caller.
    start: usize,
    middle: usize,
    /// `bytes[middle..end]` was accepted and not yet written.
    end: usize,
    /// Whether `bytes[start..middle]` must be read again if the file can seek, because of a write or a new length after it.
    stale: bool,
    /// Whether the file was found unable to seek. Its reads and writes have no common position.
    cannot_seek: bool,
    /// How many bytes of a lost buffer the kernel's position is ahead, beyond the unread ones.
    owed: u64,
}

impl Buffer {
    /// Returns the bytes that the caller may take.
    pub(super) fn unread(&self) -> &[u8] {
        if self.stale { &[] } else { &self.bytes[self.start..self.middle] }
    }

    pub(super) fn unwritten(&self) -> &[u8] {
        &self.bytes[self.middle..self.end]
    }

    /// Returns whether a read finds the kernel's position where the caller's is, with no bytes before it.
    pub(super) fn is_clear(&self) -> bool {
        self.start == self.end && self.owed == 0
    }

    /// Removes the unwritten bytes and returns them.
    #[cfg(all(feature = "tokio-fs", not(loom)))]
    pub(super) fn take_unwritten(&mut self) -> Vec<u8> {
        let unwritten = self.unwritten().to_vec();
        self.end = self.middle;
        unwritten
    }

    /// Returns whether a read must wait until the unwritten bytes are written: they come before the bytes that it reads. Not if the file
    /// cannot seek: its peer may wait for the program to read before it reads itself.
    pub(super) fn must_write_first(&self) -> bool {
        self.middle < self.end && !self.cannot_seek
    }

    /// Removes `count` unread bytes, which the caller has taken.
    pub(super) fn consume(&mut self, count: usize) {
        self.start += count;
        debug_assert!(self.start <= self.middle);
    }

    /// Returns how many bytes the kernel's position is ahead of the caller's.
    pub(super) fn ahead(&self) -> u64 {
        self.owed + (self.middle - self.start) as u64
    }

    /// Marks the unread bytes to be read again. If the file cannot seek, they stay.
    pub(super) fn forget_unread(&mut self) {
        self.stale = self.start < self.middle;
    }

    /// Makes a buffer to replace one that was lost with an operation that could not run.
    pub(super) fn lost(ahead: u64) -> Buffer {
        Buffer { owed: ahead, ..Buffer::default() }
    }

    /// Copies up to `size` bytes to write, and returns their count. No earlier bytes may be unwritten.
    pub(super) fn load<'a>(&mut self, sources: impl Iterator<Item = &'a [u8]>, size: usize) -> usize {
        debug_assert!(self.middle == self.end);
        if self.start == self.middle {
            (self.start, self.middle, self.end) = (0, 0, 0);
        }
        for source in sources {
            let source = &source[..source.len().min(size - (self.end - self.middle))];
            self.make_room(source.len());
            self.bytes[self.end..self.end + source.len()].copy_from_slice(source);
            self.end += source.len();
        }
        if self.middle < self.end {
            self.forget_unread();
        }
        self.end - self.middle
    }

    /// Has `read` read up to `size` bytes at the kernel's position, and appends them to the unread ones.
    pub(super) fn read<E: From<io::Error>>(
        &mut self,
        file: &File,
        size: usize,
        read: impl FnOnce(&mut [u8]) -> Result<usize, E>,
    ) -> Result<usize, E> {
        if self.must_step_back() {
            self.step_back(file)?;
            if self.start < self.middle {
                // The file cannot seek: the bytes that were read ahead come next.
                return Ok(self.middle - self.start);
            }
        }
        if self.start == self.end {
            (self.start, self.middle, self.end) = (0, 0, 0);
        } else if self.start > 0 {
            self.bytes.copy_within(self.start..self.end, 0);
            (self.start, self.middle, self.end) = (0, self.middle - self.start, self.end - self.start);
        }
        self.make_room(size);
        let count = read(&mut self.bytes[self.end..self.end + size])?;
        if self.middle < self.end {
            self.bytes[self.middle..self.end + count].rotate_right(count);
        }
        self.middle += count;
        self.end += count;
        Ok(count)
    }

    /// Writes the unwritten bytes, and calls `wrote` with the count of each system call.
    ///
    /// After an error the rest stays unwritten. If the file cannot seek, it does so only on EAGAIN; otherwise it is dropped, because no
    /// seek could discard it and it would fail every later operation.
    pub(super) fn write(&mut self, mut file: &File, mut wrote: impl FnMut(usize)) -> io::Result<()> {
        if self.must_step_back() {
            self.step_back(file)?;
        }
        let mut written = self.middle;
        let answer = loop {
            if written == self.end {
                break Ok(());
            }
            match file.write(&self.bytes[written..self.end]) {
                Ok(0) => break Err(io::ErrorKind::WriteZero.into()),
                Ok(count) => {
                    written += count;
                    wrote(count);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => break Err(error),
            }
        };
        if let Err(error) = &answer {
            self.cannot_seek = self.cannot_seek || file.stream_position().is_err_and(|error| is_not_seekable(&error));
            if self.cannot_seek && error.kind() != io::ErrorKind::WouldBlock {
                written = self.end;
            }
        }
        if written < self.end {
            self.bytes.copy_within(written..self.end, self.middle);
        }
        self.end -= written - self.middle;
        answer
    }

    /// Moves the kernel's position and drops all bytes.
    pub(super) fn seek(&mut self, mut file: &File, to: SeekFrom) -> io::Result<u64> {
        let position = file.seek(to)?;
        self.empty();
        Ok(position)
    }

    /// Moves the kernel's position to the caller's, if the file can seek, so that another user of the open file reads on there.
    pub(super) fn return_unread(&mut self, file: &File) {
        let ahead = self.ahead();
        if ahead > 0 && matches!(move_back(file, ahead), Ok(true)) {
            self.drop_unread();
        }
    }

    fn empty(&mut self) {
        (self.start, self.middle, self.end, self.stale, self.owed) = (0, 0, 0, false, 0);
    }

    /// Returns whether unread bytes must be read again, or were lost.
    fn must_step_back(&self) -> bool {
        self.stale || self.owed > 0
    }

    fn drop_unread(&mut self) {
        self.start = self.middle;
        (self.stale, self.owed) = (false, 0);
    }

    /// Moves the kernel's position back over the bytes to read again. If the file cannot seek, the unread bytes stay.
    ///
    /// Returns an error only once: the next operation uses the position as it is.
    #[cold]
    fn step_back(&mut self, file: &File) -> io::Result<()> {
        match move_back(file, self.ahead()) {
            Ok(true) => {
                self.drop_unread();
                Ok(())
            }
            Ok(false) => {
                self.cannot_seek = true;
                (self.stale, self.owed) = (false, 0);
                Ok(())
            }
            Err(error) => {
                self.drop_unread();
                Err(error)
            }
        }
    }

    fn make_room(&mut self, size: usize) {
        if self.bytes.len() < self.end + size {
            self.bytes.resize(self.end + size, 0);
        }
    }
}

/// Moves the kernel's position back, or returns false if the file cannot seek.
fn move_back(mut file: &File, count: u64) -> io::Result<bool> {
    let moved = file.stream_position().and_then(|before| {
        // A device may accept a seek without moving.
        Ok(file.seek(SeekFrom::Current(-(count as i64)))? != before)
    });
    match moved {
        Err(error) if is_not_seekable(&error) => Ok(false),
        moved => moved,
    }
}

fn is_not_seekable(error: &io::Error) -> bool {
    error.raw_os_error() == Some(Errno::SPIPE.raw_os_error())
}
