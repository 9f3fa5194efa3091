//! The bytes that a reader copies: a file, or memory.

use std::fs::File;
use std::io;
use std::thread;
use std::time::Duration;

/// Bytes at places.
pub trait Source {
    /// Copies bytes from a place on, and returns how many: fewer than asked at the end.
    ///
    /// # Errors
    ///
    /// The system's.
    fn copy(&self, bytes: &mut [u8], place: u64) -> io::Result<usize>;

    /// Waits until threads of the program may have gone on that did not run. Returns whether the bytes may have changed since.
    fn wait(&self) -> bool {
        false
    }
}

impl Source for File {
    fn copy(&self, bytes: &mut [u8], place: u64) -> io::Result<usize> {
        use std::os::unix::fs::FileExt as _;
        let mut length = 0;
        while length < bytes.len() {
            match self.read_at(&mut bytes[length..], place.saturating_add(length as u64)) {
                Ok(0) => break,
                Ok(more) => length += more,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(length)
    }

    fn wait(&self) -> bool {
        thread::sleep(Duration::from_millis(5));
        true
    }
}

impl Source for [u8] {
    fn copy(&self, bytes: &mut [u8], place: u64) -> io::Result<usize> {
        let rest = usize::try_from(place).ok().and_then(|place| self.get(place..)).unwrap_or_default();
        let length = rest.len().min(bytes.len());
        bytes[..length].copy_from_slice(&rest[..length]);
        Ok(length)
    }
}
