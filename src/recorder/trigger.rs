//! Requests for snapshots: which sessions want which causes, and how threads report a cause.
//!
//! Nothing but atomics, so that any thread can report wherever probes fire. The maintenance thread compares the number of requests in the
//! session's slot with the number that it has handled; see [`flight`](super::flight).

use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use crate::rings::cause::{CAUSES, Cause};
use crate::rings::host;
use crate::rings::slot::{SESSIONS, SLOTS};
use crate::rings::wake;

/// For each cause, one bit for each session that subscribes to it.
static SUBSCRIBERS: [AtomicU32; CAUSES] = [const { AtomicU32::new(0) }; CAUSES];

impl Cause {
    fn bits(self) -> &'static AtomicU32 {
        &SUBSCRIBERS[self as usize]
    }

    /// Subscribes the session, or ends its subscription.
    pub fn subscribe(self, session: usize, wanted: bool) {
        // Release: a thread that sees the bit also sees the session's slot for this cause.
        match wanted {
            true => self.bits().fetch_or(1 << session, Release),
            false => self.bits().fetch_and(!(1 << session), Release),
        };
    }

    /// Whether any session subscribes.
    #[cfg(recorded)]
    #[inline]
    pub fn has_subscribers(self) -> bool {
        // Relaxed: a session seen too late has little in its circular files anyway.
        self.bits().load(Relaxed) != 0
    }

    /// The sessions that subscribe.
    pub fn subscribers(self) -> impl Iterator<Item = usize> {
        // Acquire: with `subscribe`'s Release.
        let sessions = self.bits().load(Acquire);
        (0..SESSIONS).filter(move |session| sessions & 1 << session != 0)
    }

    /// Requests a snapshot of the session. Returns the number of the request.
    pub fn request(self, session: usize) -> u64 {
        // Release: the maintenance thread, which counts the request, sees the events recorded before.
        let before = SLOTS[session].requests[self as usize].fetch_add(1, Release);
        wake::wake();
        before + 1
    }
}

/// Ends all subscriptions: a forked child has no sessions.
pub(super) fn clear() {
    for bits in &SUBSCRIBERS {
        bits.store(0, Relaxed);
    }
}

/// Requests a snapshot of each session in [`Mode::Overwrite`](super::Mode::Overwrite), within the limits of
/// [`Triggers`](super::Triggers), into a folder beside the session's own.
///
/// For conditions that only the program can see. Does not wait, and may be called in a signal handler.
/// [`Session::snapshot`](super::Session::snapshot) takes one at once and returns the result.
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
    Cause::Asked.subscribers().for_each(|session| {
        Cause::Asked.request(session);
    });
}
