//! Mappings of a growing file, so that a thread that records little takes few addresses.
//!
//! Each is of the file from its beginning, and [`GROWTH`] times as long as the one before it. All show the same memory, and none is
//! unmapped before the file is dropped, so an address within an older one stays valid. Any thread may add the next, and signal handlers.

use std::os::fd::AsFd;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, Ordering};

use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags, mmap, mmap_anonymous, munmap};

use super::super::limits::Addresses;
use super::super::os;
use super::{SUB_BUFFER, pages};
use crate::forks;

/// The length of the first mapping, in bytes.
const FIRST: u64 = 4 << 20;
const GROWTH: u64 = 16;
/// The most mappings of a file: the last has its largest length.
const COUNT: usize = 5;

/// Whether forked children are made without the mappings.
static LEFT_OUT: AtomicBool = AtomicBool::new(false);

/// Leaves mappings made from now on out of forked children. No code there may use their addresses.
pub fn leave_out_of_children() {
    LEFT_OUT.store(true, Ordering::Relaxed);
}

pub(super) struct Views {
    /// By length; null are those that were not needed yet.
    bases: [AtomicPtr<u8>; COUNT],
    /// The longest of them.
    newest: AtomicPtr<u8>,
    /// The length of the newest.
    covered: AtomicU64,
    /// The largest length of the file.
    limit: u64,
    addresses: Addresses,
}

impl Views {
    /// Maps a file in as short a view as has the first `upto` bytes. Reduces the limit if that cannot be mapped.
    pub(super) fn new(file: &impl AsFd, mut limit: u64, upto: u64) -> Result<Views, Errno> {
        loop {
            let views = Views {
                bases: Default::default(),
                newest: AtomicPtr::default(),
                covered: AtomicU64::new(0),
                limit,
                addresses: Addresses::take(all_lengths(limit)),
            };
            // AGAIN: the program locks all of its memory, and may not lock that much.
            match views.cover(file, upto.clamp(1, limit)) {
                Ok(()) => return Ok(views),
                Err(Errno::NOMEM | Errno::AGAIN) if limit > SUB_BUFFER as u64 => {
                    limit = pages(length(0, limit).max(upto.min(limit)) / 2);
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// The address of the longest mapping.
    #[inline(always)]
    pub(super) fn base(&self) -> *mut u8 {
        // Relaxed: the mapping is older than the length by which a thread learns that it may touch it.
        self.newest.load(Ordering::Relaxed)
    }

    pub(super) fn limit(&self) -> u64 {
        self.limit
    }

    /// How much of the file is mapped, in bytes.
    pub(super) fn covered(&self) -> u64 {
        // Acquire: with cover's Release. A thread that sees the length sees that mapping as the newest, or a longer one.
        self.covered.load(Ordering::Acquire)
    }

    /// Maps the file up to byte `upto`, at most the limit, if it is not.
    ///
    /// # Errors
    ///
    /// The system's: no addresses remain, or no memory may be locked.
    pub(super) fn cover(&self, file: &impl AsFd, upto: u64) -> Result<(), Errno> {
        if upto <= self.covered() {
            return Ok(());
        }
        let is_long_enough = |number: &usize| length(*number, self.limit) >= upto;
        let number = (0..COUNT).find(is_long_enough).unwrap_or(COUNT - 1);
        let base = self.map(file, number)?;
        self.make_newest(base, number);
        // Release: with covered's Acquire.
        self.covered.fetch_max(length(number, self.limit), Ordering::Release);
        Ok(())
    }

    /// Makes the mapping of that number, unless it is there.
    fn map(&self, file: &impl AsFd, number: usize) -> Result<*mut u8, Errno> {
        let present = self.bases[number].load(Ordering::Acquire);
        if !present.is_null() {
            return Ok(present);
        }
        let length = length(number, self.limit);
        let (protection, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED | os::NO_RESERVE);
        // SAFETY: a new mapping at an address that the kernel chooses overlaps no other memory.
        let base = unsafe { mmap(ptr::null_mut(), length as usize, protection, flags, file, 0) }?.cast::<u8>();
        if LEFT_OUT.load(Ordering::Relaxed) {
            // SAFETY: the mapping made above, which no code uses in a child. If the kernel cannot, the child has it, too.
            unsafe { forks::os::leave_out_of_children(base.cast(), length as usize) };
        }
        match self.bases[number].compare_exchange(ptr::null_mut(), base, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => {
                self.addresses.map(length);
                Ok(base)
            }
            Err(present) => {
                // SAFETY: the mapping made above, which no other code knows.
                let _ = unsafe { munmap(base.cast(), length as usize) };
                Ok(present)
            }
        }
    }

    /// Makes a mapping the newest one, unless a longer one is.
    fn make_newest(&self, base: *mut u8, number: usize) {
        let mut newest = self.newest.load(Ordering::Acquire);
        // Each newest one was put into `bases` before.
        let is_longer = |newest| self.bases[number..].iter().any(|base| base.load(Ordering::Acquire) == newest);
        while newest.is_null() || !is_longer(newest) {
            match self.newest.compare_exchange(newest, base, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return,
                Err(other) => newest = other,
            }
        }
    }

    /// Addresses and lengths of all mappings.
    fn all(&self) -> impl Iterator<Item = (*mut u8, usize)> {
        let views = self.bases.iter().enumerate();
        let views = views.map(|(number, base)| (base.load(Ordering::Acquire), length(number, self.limit) as usize));
        views.filter(|(base, _)| !base.is_null())
    }

    /// Replaces the mappings of the parent by private memory.
    ///
    /// # Safety
    ///
    /// The caller is in a forked child that does not use these addresses otherwise.
    pub(super) unsafe fn make_private(&self) {
        let (protection, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE | os::NO_RESERVE);
        for (base, length) in self.all() {
            // SAFETY: as the caller promises, nothing of the child is there. If it fails, the child has no memory to continue with.
            let _ = unsafe { mmap_anonymous(base.cast(), length, protection, flags | MapFlags::FIXED) };
        }
    }
}

impl Drop for Views {
    fn drop(&mut self) {
        for (base, length) in self.all() {
            // SAFETY: the mapping belongs to this value, and users of its address are done.
            let _ = unsafe { munmap(base.cast(), length) };
        }
    }
}

/// The length of the mapping of that number, for a file of at most `limit` bytes.
fn length(number: usize, limit: u64) -> u64 {
    if number == COUNT - 1 { limit } else { limit.min(FIRST * GROWTH.pow(number as u32)) }
}

/// The sum of the lengths that a file of at most `limit` bytes may be mapped in.
fn all_lengths(limit: u64) -> u64 {
    let shorter = (0..COUNT).map(|number| length(number, limit)).filter(|length| *length < limit);
    shorter.sum::<u64>() + limit
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_length_is_counted_once() {
        assert_eq!(all_lengths(1 << 20), 1 << 20);
        assert_eq!(all_lengths(16 << 20), (4 << 20) + (16 << 20));
        assert_eq!(all_lengths(1 << 30), (4 << 20) + (64 << 20) + (1 << 30));
        assert_eq!(all_lengths(64 << 30), (4 << 20) + (64 << 20) + (1 << 30) + (16 << 30) + (64 << 30));
    }
}
