//! The mapped file.
//!
//! The whole of the largest table is mapped at once; the file grows under the mapping, in whole pages. Memory that the file does not have
//! yet is never touched: [`File::reserve`] and [`File::grow`] come first.

use std::ffi::c_void;
use std::fs;
use std::io;
use std::ptr;
use std::slice;
use std::sync::atomic::AtomicU64;

use dyntrace_task_table::layout::{SLOT, Slot, TEXTS, clock, header};
use rustix::fs::{FallocateFlags, fallocate, ftruncate};
use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

use dyntrace_probes::thread_progress::os::without_file_size_signal;

/// The file of a table, mapped for writing.
pub(super) struct Mapped {
    file: fs::File,
    base: *mut c_void,
    /// The size of the mapping in bytes.
    size: usize,
}

// SAFETY: the mapping lasts as long as the value. It is shared by atomics, and by `put_text`, whose callers write to different places.
unsafe impl Send for Mapped {}
// SAFETY: likewise.
unsafe impl Sync for Mapped {}

impl Mapped {
    /// Maps `size` bytes of the file, which is empty.
    ///
    /// # Errors
    ///
    /// The system's: no address space of this size is left.
    pub(super) fn new(file: fs::File, size: usize) -> io::Result<Mapped> {
        let (access, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED | MapFlags::NORESERVE);
        // SAFETY: a new mapping, at an address that the kernel chooses.
        let base = unsafe { mmap(ptr::null_mut(), size, access, flags, &file, 0) }?;
        Ok(Mapped { file, base, size })
    }

    /// Makes the file `length` bytes long, if it is shorter, and reserves its disk space from `from` on.
    ///
    /// # Errors
    ///
    /// The system's: the disk is full, or the process may not create files of this size.
    pub(super) fn grow(&self, from: usize, length: usize) -> io::Result<()> {
        without_file_size_signal(|| {
            ftruncate(&self.file, length as u64)?;
            self.reserve(from, length)
        })
    }

    /// Reserves disk space for a part of the file, so that a full disk is an error here and no signal later.
    ///
    /// # Errors
    ///
    /// The system's: the disk is full.
    pub(super) fn reserve(&self, from: usize, upto: usize) -> io::Result<()> {
        loop {
            return match fallocate(&self.file, FallocateFlags::KEEP_SIZE, from as u64, (upto - from) as u64) {
                // Some file systems cannot, and a sandbox may forbid it.
                Ok(()) | Err(Errno::OPNOTSUPP | Errno::NOSYS | Errno::PERM) => Ok(()),
                Err(Errno::INTR) => continue,
                Err(error) => Err(error.into()),
            };
        }
    }

    /// The words of the header. The file has them since its first growth.
    pub(super) fn header(&self) -> &[AtomicU64; header::WORDS] {
        // SAFETY: the first page of the mapping, which is aligned and lives as long as `self`. All access is by atomics.
        unsafe { &*self.base.cast::<[AtomicU64; header::WORDS]>() }
    }

    /// The words of the clock, which are a part of the header.
    pub(super) fn clock(&self) -> &clock::Words {
        // SAFETY: as in `header`; `Locked` is a row of atomics. `header` gives these words, too, but nobody uses them.
        unsafe { &*self.base.cast::<AtomicU64>().add(header::CLOCK).cast::<clock::Words>() }
    }

    /// The slots from `slots` on, of which the file has `count`.
    #[inline(always)]
    pub(super) fn slots(&self, slots: usize, count: usize) -> &[Slot] {
        debug_assert!(slots + count * SLOT <= self.size);
        // SAFETY: the caller has grown the file so far; the place is a multiple of 8. All access is by atomics.
        unsafe { slice::from_raw_parts(self.base.cast::<u8>().add(slots).cast::<Slot>(), count) }
    }

    /// Writes `bytes` into the area of texts. The caller has reserved the place, and no other thread writes there. Other processes read it
    /// only after a slot refers to it.
    pub(super) fn put_text(&self, place: usize, bytes: &[u8]) {
        assert!(place >= TEXTS && place + bytes.len() <= self.size);
        // SAFETY: within the mapping, and reserved. No reference to this memory exists in this process.
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), self.base.cast::<u8>().add(place), bytes.len()) };
    }
}

impl Drop for Mapped {
    fn drop(&mut self) {
        // SAFETY: the mapping made in `new`. References to it borrow `self`.
        let _ = unsafe { munmap(self.base, self.size) };
    }
}
