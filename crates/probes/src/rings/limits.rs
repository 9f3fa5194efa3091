//! The recorder's share of the process's resource limits, so that the program keeps the rest.
//!
//! | resource | the recorder's share |
//! |---|---|
//! | addresses (`RLIMIT_AS`, or the width of pointers) | at most a quarter of those that the program does not use |
//! | descriptors (`RLIMIT_NOFILE`) | none of the last eighth; of those above 256, it keeps at most one in twelve, and 64 in all |
//! | the size of files (`RLIMIT_FSIZE`) | all of it; a session whose files cannot hold a packet fails |

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::io::Errno;

use super::os::{self, limit};

/// The addresses of a process without a limit, by the width of its pointers.
const WIDTH: u64 = if cfg!(target_pointer_width = "64") { 1 << 48 } else { 1 << 32 };

/// A file takes at most this fraction of the remaining addresses, so that some remain for the next.
const PARTS: u64 = 16;

/// Returns `bytes`, or the process's limit for a file if that is less.
pub fn file_size(bytes: u64) -> u64 {
    limit(libc::RLIMIT_FSIZE).map_or(bytes, |most| most.min(bytes))
}

/// Addresses that the recorder's files may come to use.
static TAKEN: AtomicU64 = AtomicU64::new(0);
/// Those of them in use.
static MAPPED: AtomicU64 = AtomicU64::new(0);

/// Addresses for one file. Released when dropped.
pub struct Addresses {
    taken: u64,
    mapped: AtomicU64,
}

impl Addresses {
    /// Returns how many addresses the next file may use: at least `smallest`.
    ///
    /// # Errors
    ///
    /// ENOMEM if fewer than `smallest` remain.
    pub fn allowed(smallest: u64) -> io::Result<u64> {
        // Relaxed: the amounts order nothing.
        match share(MAPPED.load(Ordering::Relaxed)).saturating_sub(TAKEN.load(Ordering::Relaxed)) {
            left if left < smallest => Err(Errno::NOMEM.into()),
            left => Ok((left / PARTS).max(smallest)),
        }
    }

    pub fn take(bytes: u64) -> Addresses {
        TAKEN.fetch_add(bytes, Ordering::Relaxed);
        Addresses { taken: bytes, mapped: AtomicU64::new(0) }
    }

    /// Counts `bytes` of them as in use.
    pub fn map(&self, bytes: u64) {
        self.mapped.fetch_add(bytes, Ordering::Relaxed);
        MAPPED.fetch_add(bytes, Ordering::Relaxed);
    }
}

impl Drop for Addresses {
    fn drop(&mut self) {
        TAKEN.fetch_sub(self.taken, Ordering::Relaxed);
        MAPPED.fetch_sub(*self.mapped.get_mut(), Ordering::Relaxed);
    }
}

/// A quarter of the addresses that the program does not use, where the recorder uses `mapped`.
fn share(mapped: u64) -> u64 {
    let most = match limit(libc::RLIMIT_AS) {
        Some(limit) => limit.min(WIDTH),
        None if WIDTH > 1 << 32 => return WIDTH / 4,
        None => WIDTH,
    };
    // If unknown, assume that the program uses half.
    let used = os::used_addresses().unwrap_or(most / 2 + mapped);
    most.saturating_sub(used.saturating_sub(mapped)) / 4
}

/// Descriptors kept open.
static KEPT: AtomicU64 = AtomicU64::new(0);

/// The permit to keep one descriptor open. Released when dropped.
pub struct DescriptorPermit(());

impl DescriptorPermit {
    /// Returns `None` if the process has too few descriptors.
    pub fn acquire() -> Option<DescriptorPermit> {
        let most = descriptors().saturating_sub(256) / 12;
        let more = |kept| (kept < most.min(64)).then_some(kept + 1);
        KEPT.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).ok().map(|_| DescriptorPermit(()))
    }
}

impl Drop for DescriptorPermit {
    fn drop(&mut self) {
        // A forked child's count does not have the permits of its parent.
        let _ = KEPT.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |kept| kept.checked_sub(1));
    }
}

/// Forgets the permits of the parent, in a forked child, which closes the parent's files.
pub fn forget() {
    KEPT.store(0, Ordering::Relaxed);
}

fn descriptors() -> u64 {
    limit(libc::RLIMIT_NOFILE).unwrap_or(u64::MAX)
}

/// Closes a descriptor that is one of the last eighth, which is the program's. Safe in signal handlers.
///
/// # Errors
///
/// EMFILE.
pub fn refuse_last(descriptor: OwnedFd) -> Result<OwnedFd, Errno> {
    let most = descriptors();
    // The kernel returns the lowest free number.
    if descriptor.as_raw_fd() as u64 >= most - most / 8 { Err(Errno::MFILE) } else { Ok(descriptor) }
}
