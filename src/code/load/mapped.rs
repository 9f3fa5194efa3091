//! A file mapped for reading.

use std::fs::File;
use std::io;
use std::ops::Deref;
use std::{ptr, slice};

use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

/// The contents of a private copy, which no process writes or truncates.
pub(crate) struct Mapped {
    start: *mut std::ffi::c_void,
    length: usize,
}

impl Mapped {
    pub(crate) fn of(file: &File) -> io::Result<Mapped> {
        let length = usize::try_from(file.metadata()?.len()).map_err(io::Error::other)?;
        if length == 0 {
            return Ok(Mapped { start: ptr::null_mut(), length });
        }
        // SAFETY: at an address that the kernel chooses.
        let start = unsafe { mmap(ptr::null_mut(), length, ProtFlags::READ, MapFlags::PRIVATE, file, 0)? };
        Ok(Mapped { start, length })
    }
}

impl Deref for Mapped {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        if self.length == 0 {
            return &[];
        }
        // SAFETY: mapped in `of` for as long as `self` lives; the file is a private copy that no process changes.
        unsafe { slice::from_raw_parts(self.start.cast(), self.length) }
    }
}

impl Drop for Mapped {
    fn drop(&mut self) {
        if self.length != 0 {
            // SAFETY: mapped in `of`; `self` is being dropped, so that no borrow is left.
            let _ = unsafe { munmap(self.start, self.length) };
        }
    }
}
