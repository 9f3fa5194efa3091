//! The lengths of mailboxes, for the monitor.
//!
//! While a [`Watch`] lives, the call sites of `message-send` and `message-receive` run, as if a tracer looked, and note the length of the
//! mailbox after each step. A mailbox in which nothing has happened since then is not known.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU32, AtomicU64};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

use dyntrace_processes::process::Pid;

/// Which watch lengths are noted for; 0 while there is none.
static ERA: AtomicU32 = AtomicU32::new(0);

static DEPTHS: Mutex<Depths> = Mutex::new(Depths { process: 0, watches: 0, last_era: 0, all: Vec::new() });

/// The mailboxes whose lengths are known.
struct Depths {
    /// The process whose watches these are: a forked child has none.
    process: u32,
    watches: usize,
    last_era: u32,
    all: Vec<Weak<Depth>>,
}

/// The length of a mailbox.
#[derive(Debug)]
struct Depth {
    /// The number of the process that receives.
    owner: AtomicU64,
    /// The era in the high half, the length in the low half.
    length: AtomicU64,
}

/// The length of a mailbox, once a watch has seen a message of it.
#[derive(Debug, Default)]
pub(super) struct Noted(OnceLock<Arc<Depth>>);

impl Noted {
    /// Notes the length, if there is a watch.
    #[inline]
    pub(super) fn note(&self, owner: Pid, length: u32) {
        let era = ERA.load(Relaxed);
        if era != 0 {
            self.note_in(era, owner, length);
        }
    }

    #[cold]
    #[inline(never)]
    fn note_in(&self, era: u32, owner: Pid, length: u32) {
        let depth = match self.0.get() {
            Some(depth) => depth,
            None => match Depth::known() {
                Some(depth) => self.0.get_or_init(|| depth),
                None => return,
            },
        };
        depth.owner.store(owner.number(), Relaxed);
        depth.length.store(u64::from(era) << 32 | u64::from(length), Relaxed);
    }
}

impl Depth {
    /// Makes one that the watches know. `None` in a forked child, which has its parent's era and no watch.
    #[cold]
    fn known() -> Option<Arc<Depth>> {
        let mut depths = depths();
        if depths.process != std::process::id() {
            ERA.store(0, Relaxed);
            return None;
        }
        let depth = Arc::new(Depth { owner: AtomicU64::new(0), length: AtomicU64::new(0) });
        depths.all.push(Arc::downgrade(&depth));
        Some(depth)
    }
}

/// Nothing panics under this lock.
fn depths() -> MutexGuard<'static, Depths> {
    DEPTHS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A mailbox with many messages.
#[cfg(all(recorded, target_os = "linux"))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Long {
    /// Which mailbox it is: no other one has this number while it lives.
    pub mailbox: usize,
    pub owner: Pid,
    pub messages: u32,
}

/// While it lives, lengths are noted.
#[cfg(all(recorded, target_os = "linux"))]
#[derive(Debug)]
pub(crate) struct Watch(());

#[cfg(all(recorded, target_os = "linux"))]
impl Watch {
    pub(crate) fn begin() -> Watch {
        dyntrace_probes::forks::hold_across_forks!(Depths, depths());
        let mut depths = depths();
        if depths.process != std::process::id() {
            (depths.process, depths.watches) = (std::process::id(), 0);
        }
        if depths.watches == 0 {
            // Lengths from before the last watch ended are not true any more.
            depths.last_era = depths.last_era.checked_add(1).unwrap_or(1);
            ERA.store(depths.last_era, Relaxed);
        }
        depths.watches += 1;
        // Under the lock, so that the end of another watch does not come after it.
        keep(true);
        Watch(())
    }

    /// The mailboxes with more messages than `limit`.
    pub(crate) fn longer_than(&self, limit: u64) -> Vec<Long> {
        let mut depths = depths();
        let era = depths.last_era;
        let mut long = Vec::new();
        depths.all.retain(|depth| {
            let Some(known) = depth.upgrade() else { return false };
            let length = known.length.load(Relaxed);
            let messages = length as u32;
            if length >> 32 == u64::from(era) && u64::from(messages) > limit {
                let owner = Pid::numbered(known.owner.load(Relaxed));
                long.push(Long { mailbox: depth.as_ptr().addr(), owner, messages });
            }
            true
        });
        long
    }
}

#[cfg(all(recorded, target_os = "linux"))]
impl Drop for Watch {
    fn drop(&mut self) {
        let mut depths = depths();
        // Not in a forked child, which has a copy of its parent's watch.
        if depths.process == std::process::id() {
            depths.watches -= 1;
            if depths.watches == 0 {
                ERA.store(0, Relaxed);
                keep(false);
            }
        }
    }
}

#[cfg(all(recorded, target_os = "linux"))]
fn keep(on: bool) {
    use dyntrace_processes::probes::message::{receive, send};

    crate::recorder::keep(&[&send::__DESCRIPTOR, &receive::__DESCRIPTOR], on);
}
