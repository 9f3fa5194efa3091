//! What the recorder may take of what the system allows the process, so that the program keeps what it needs.
//!
//! | of | the recorder takes |
//! |---|---|
//! | addresses (`RLIMIT_AS`, or the width of pointers) | at most a quarter of those that the program has not taken |
//! | descriptors (`RLIMIT_NOFILE`) | none of the last eighth; of those above 256, it keeps at most one in twelve, and 64 in all |
//! | the size of files (`RLIMIT_FSIZE`) | what it allows; a session that could not hold a packet is refused |

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::io::Errno;
use rustix::process::{Resource, getrlimit};

use super::os;

/// The addresses of a process without a limit, by the width of its pointers.
const WIDTH: u64 = if cfg!(target_pointer_width = "64") { 1 << 48 } else { 1 << 32 };

/// A file takes one such part at most of the addresses that are left: there are always some for the next.
const PARTS: u64 = 16;

/// As much of `bytes` as a file of this process may hold.
pub(super) fn file_size(bytes: u64) -> u64 {
    getrlimit(Resource::Fsize).current.map_or(bytes, |most| most.min(bytes))
}

/// How many addresses the recorder's files have.
static TAKEN: AtomicU64 = AtomicU64::new(0);

/// Addresses that one file takes, until it is dropped.
pub(super) struct Addresses(u64);

impl Addresses {
    /// How many the next file may take; `smallest` at least.
    ///
    /// # Errors
    ///
    /// ENOMEM: so many are not left.
    pub(super) fn allowed(smallest: u64) -> io::Result<u64> {
        // Relaxed: an amount, which orders nothing.
        let taken = TAKEN.load(Ordering::Relaxed);
        match share(taken).saturating_sub(taken) {
            left if left < smallest => Err(Errno::NOMEM.into()),
            left => Ok((left / PARTS).max(smallest)),
        }
    }

    pub(super) fn take(bytes: u64) -> Addresses {
        TAKEN.fetch_add(bytes, Ordering::Relaxed);
        Addresses(bytes)
    }
}

impl Drop for Addresses {
    fn drop(&mut self) {
        TAKEN.fetch_sub(self.0, Ordering::Relaxed);
    }
}

/// A quarter of the addresses that the program has left, where the recorder has `taken` so many already.
fn share(taken: u64) -> u64 {
    let most = match getrlimit(Resource::As).current {
        Some(limit) => limit.min(WIDTH),
        None if WIDTH > 1 << 32 => return WIDTH / 4,
        None => WIDTH,
    };
    // Where nobody says, the program may have half of them.
    let used = os::used_addresses().unwrap_or(most / 2 + taken);
    most.saturating_sub(used.saturating_sub(taken)) / 4
}

/// How many descriptors are kept.
static KEPT: AtomicU64 = AtomicU64::new(0);

/// The right to keep one descriptor, until it is dropped.
pub(super) struct Kept(());

impl Kept {
    /// `None` where there are too few to keep one.
    pub(super) fn one() -> Option<Kept> {
        let most = descriptors().saturating_sub(256) / 12;
        let more = |kept| (kept < most.min(64)).then_some(kept + 1);
        KEPT.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).ok().map(|_| Kept(()))
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        KEPT.fetch_sub(1, Ordering::Relaxed);
    }
}

fn descriptors() -> u64 {
    getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX)
}

/// Gives a descriptor back that is one of the last: those are the program's. Safe in signal handlers.
///
/// # Errors
///
/// EMFILE.
pub(super) fn leave_the_last(descriptor: OwnedFd) -> Result<OwnedFd, Errno> {
    let most = descriptors();
    // The kernel gives the lowest that is free.
    if descriptor.as_raw_fd() as u64 >= most - most / 8 { Err(Errno::MFILE) } else { Ok(descriptor) }
}
