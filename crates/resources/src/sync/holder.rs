//! The process that holds a lock.

use std::panic::Location;
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};
use std::time::Duration;

use dyntrace_probes::clock;

use dyntrace_processes::process::{self, Pid};
use dyntrace_processes::waiting::is_watched;

/// The process that holds a lock, and the call by which it took the lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Holder {
    /// The process.
    pub pid: Pid,
    /// Call of `lock`, or of another function that took the lock.
    pub place: &'static Location<'static>,
    /// Time since then. `None` if neither `process-wait` nor `process-resume` was traced then, as the clock was not read.
    pub held: Option<Duration>,
}

/// The holder of a lock, which only the holder changes.
#[derive(Debug)]
pub(super) struct HolderCell {
    /// The number of the pid. 0: the lock is free, or changes hands.
    pid: AtomicU64,
    place: AtomicPtr<Location<'static>>,
    /// The clock when the lock was taken. 0: not read.
    since: AtomicU64,
}

impl HolderCell {
    pub(super) const fn new() -> HolderCell {
        HolderCell { pid: AtomicU64::new(0), place: AtomicPtr::new(ptr::null_mut()), since: AtomicU64::new(0) }
    }

    /// Notes that the current process has taken the lock.
    #[inline(always)]
    pub(super) fn take(&self, place: &'static Location<'static>) {
        let since = if is_watched() { now() } else { 0 };
        self.since.store(since, Ordering::Relaxed);
        self.place.store(ptr::from_ref(place).cast_mut(), Ordering::Relaxed);
        // Release: a reader that sees the pid sees the rest, of this holder or of a later one.
        self.pid.store(process::current().number(), Ordering::Release);
    }

    /// Notes that the lock is about to be free.
    #[inline(always)]
    pub(super) fn leave(&self) {
        self.pid.store(0, Ordering::Relaxed);
    }

    /// Returns the holder. `None` while the lock is free or changes hands.
    pub(super) fn holder(&self) -> Option<Holder> {
        let pid = self.pid.load(Ordering::Acquire);
        let (place, since) = (self.place.load(Ordering::Acquire), self.since.load(Ordering::Acquire));
        // The same pid again: the rest is of this process, too.
        if pid == 0 || self.pid.load(Ordering::Relaxed) != pid {
            return None;
        }
        // SAFETY: null, or from a `&'static Location`, the only values that `take` stores.
        let place = unsafe { place.as_ref() }?;
        let held = (since != 0).then(|| clock::took(clock::now().wrapping_sub(since)));
        Some(Holder { pid: Pid::numbered(pid), place, held })
    }
}

#[cold]
fn now() -> u64 {
    clock::prepare_once();
    // 0 has another meaning.
    clock::now().max(1)
}
