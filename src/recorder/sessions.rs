//! The sessions of this process.

use std::ptr;
use std::sync::atomic::AtomicPtr;
#[cfg(all(recorded, target_os = "linux"))]
use std::sync::atomic::Ordering::Acquire;
use std::sync::{Mutex, MutexGuard, PoisonError};

use dyntrace_probes::forks::ZeroedByFork;
use dyntrace_probes::host;
use dyntrace_probes::rings::once;
use dyntrace_probes::rings::slot::SESSIONS;

use super::children;
use super::recording::Recording;

/// The sessions of this process.
pub(super) struct Sessions {
    /// By slot.
    pub recordings: [Option<Recording>; SESSIONS],
    /// The slot after that of the newest session.
    next: usize,
    /// Whether the maintenance thread runs.
    pub is_maintained: bool,
}

/// A forked child begins with no sessions: there, a thread that is gone may hold the lock.
static ALL: ZeroedByFork<AtomicPtr<Mutex<Sessions>>> = ZeroedByFork::new(AtomicPtr::new(ptr::null_mut()));

/// Locks the sessions of this process. Never called by a firing thread.
pub(super) fn sessions() -> MutexGuard<'static, Sessions> {
    all().lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether the list is there. Before that, locking it allocates.
#[cfg(all(recorded, target_os = "linux"))]
pub(super) fn are_listed() -> bool {
    !ALL.load(Acquire).is_null()
}

/// Locks them for a firing thread: `None` if another thread has the lock, which may wait for this one.
#[cfg(all(recorded, target_os = "linux"))]
pub(super) fn try_sessions() -> Option<MutexGuard<'static, Sessions>> {
    match all().try_lock() {
        Ok(sessions) => Some(sessions),
        Err(std::sync::TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
        Err(std::sync::TryLockError::WouldBlock) => None,
    }
}

fn all() -> &'static Mutex<Sessions> {
    once::get_or_init(&ALL, || {
        if !host::is_guest() {
            // Before the first lock, so that no child finds it held. If this fails for lack of memory, a session that starts says so.
            let _ = children::begin_anew();
        }
        Mutex::new(Sessions { recordings: [const { None }; SESSIONS], next: 0, is_maintained: false })
    })
}

impl Sessions {
    /// A free slot: the one that has been free for the longest time, so that few operations are in flight that a session there has seen.
    pub fn free_slot(&mut self) -> Option<usize> {
        let mut slots = (0..SESSIONS).map(|slot| (self.next + slot) % SESSIONS);
        let slot = slots.find(|slot| self.recordings[*slot].is_none())?;
        self.next = slot + 1;
        Some(slot)
    }

    /// The slot of the session of this generation.
    pub fn slot(&self, generation: u32) -> Option<usize> {
        let is_it = |recording: &Recording| recording.generation() == generation;
        self.recordings.iter().position(|recording| recording.as_ref().is_some_and(is_it))
    }

    /// The session of this generation.
    pub fn find(&mut self, generation: u32) -> Option<&mut Recording> {
        let slot = self.slot(generation)?;
        self.recordings[slot].as_mut()
    }
}

/// Has the kernel wipe the sessions in each forked child. Returns `false` where it cannot.
pub(super) fn wipe_in_children() -> bool {
    ALL.wipe_in_children()
}

/// Forgets the sessions, in a forked child.
///
/// # Safety
///
/// The caller is the child's only thread.
pub(super) unsafe fn forget() {
    // SAFETY: as the caller promises.
    unsafe { ALL.forget() };
}
