//! What a thread notes for the flight recorder, and who is to be told of it: nothing but atomics, so that it can be done
//! wherever probes fire.
//!
//! A cause is counted in the slot of each session that asked for it. The maintenance thread compares the count with what
//! it has dealt with; see [`flight`](super::flight).

use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use super::cause::{CAUSES, Cause};
use super::host;
use super::slot::{SESSIONS, SLOTS};
use super::wake;

/// For each cause the sessions that are to be told of it, one bit each.
static WISHES: [AtomicU32; CAUSES] = [const { AtomicU32::new(0) }; CAUSES];

impl Cause {
    fn wishes(self) -> &'static AtomicU32 {
        &WISHES[self as usize]
    }

    /// Whether the session is told of it from now on.
    pub fn tell(self, session: usize, wanted: bool) {
        // Release: who sees the bit sees what the session's slot holds for this cause.
        match wanted {
            true => self.wishes().fetch_or(1 << session, Release),
            false => self.wishes().fetch_and(!(1 << session), Release),
        };
    }

    /// Whether there is one that is told of it.
    #[cfg(recorded)]
    #[inline]
    pub fn is_wanted(self) -> bool {
        // Relaxed: a session that is seen too late has what came before as little in its circles.
        self.wishes().load(Relaxed) != 0
    }

    /// The sessions that are told of it.
    pub fn told(self) -> impl Iterator<Item = usize> {
        // Acquire: with `tell`'s Release.
        let sessions = self.wishes().load(Acquire);
        (0..SESSIONS).filter(move |session| sessions & 1 << session != 0)
    }

    /// Tells the maintenance thread of it; the number of this request.
    pub fn note(self, session: usize) -> u64 {
        // Release: who counts it finds the events that were recorded before.
        let before = SLOTS[session].requests[self as usize].fetch_add(1, Release);
        wake::wake();
        before + 1
    }
}

/// No session is told of anything: for a forked child, which has none.
pub(super) fn clear() {
    for wishes in &WISHES {
        wishes.store(0, Relaxed);
    }
}

/// Has each session in [`Mode::Overwrite`](super::Mode::Overwrite) write what it holds, soon and within the limits of
/// [`Triggers`](super::Triggers), to a folder beside its own. For conditions of the program's own, wherever they are found: it does
/// not wait, and may be called in a signal handler. [`Session::snapshot`](super::Session::snapshot) does it at once, and says
/// what came of it.
///
/// ```
/// # let queue_length = 3;
/// if queue_length > 1000 {
///     dyntrace::recorder::trigger();
/// }
/// ```
pub fn trigger() {
    if let Some(host) = host::HOST.get() {
        return (host.trigger)();
    }
    Cause::Asked.told().for_each(|session| {
        Cause::Asked.note(session);
    });
}
