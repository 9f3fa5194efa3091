//! The sessions of this process.

use std::ptr;
use std::sync::atomic::AtomicPtr;
use std::sync::atomic::Ordering::{AcqRel, Acquire};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::recording::Recording;
use super::slot::SESSIONS;
use crate::forks::Anew;

pub(super) struct Sessions {
    pub recordings: [Option<Recording>; SESSIONS],
    /// Whether there is a maintenance thread.
    pub is_tended: bool,
}

/// The sessions of this process. A forked child begins with none: the lock may be anybody's there.
static ALL: Anew<AtomicPtr<Mutex<Sessions>>> = Anew::new(AtomicPtr::new(ptr::null_mut()));

/// The sessions of this process, locked. The lock is held by who starts, changes and stops, and by the maintenance thread;
/// never by a thread that fires.
pub(super) fn sessions() -> MutexGuard<'static, Sessions> {
    all().lock().unwrap_or_else(PoisonError::into_inner)
}

fn all() -> &'static Mutex<Sessions> {
    let mut all = ALL.load(Acquire);
    if all.is_null() {
        let new =
            Box::into_raw(Box::new(Mutex::new(Sessions { recordings: [const { None }; SESSIONS], is_tended: false })));
        all = match ALL.compare_exchange(ptr::null_mut(), new, AcqRel, Acquire) {
            Ok(_) => new,
            Err(other) => {
                // SAFETY: made above, and nobody has seen it.
                drop(unsafe { Box::from_raw(new) });
                other
            }
        };
    }
    // SAFETY: made of a box, and never freed.
    unsafe { &*all }
}

impl Sessions {
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

/// Has the kernel take the sessions from each forked child. `false` where it does not.
pub(super) fn wipe_in_children() -> bool {
    ALL.wipe_in_children()
}

/// A forked child has no sessions.
///
/// # Safety
///
/// The caller is the child's only thread.
pub(super) unsafe fn forget() {
    // SAFETY: as the caller promises.
    unsafe { ALL.forget() };
}
