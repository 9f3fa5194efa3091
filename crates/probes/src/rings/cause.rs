//! Causes of snapshots: which sessions want which, and how threads request one.
//!
//! Nothing but atomics, so that any thread can request one wherever probes fire. The maintenance thread of the recorder compares the number
//! of requests in the session's slot with the number that it has handled.

use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use super::slot::{SESSIONS, SLOTS};
use super::wake;

/// Why a snapshot is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// An operation took too long.
    Slow,
    /// A thread panicked.
    Panic,
    /// The program asked for it.
    Asked,
}

/// The number of causes.
pub const CAUSES: usize = Cause::ALL.len();

/// For each cause, one bit for each session that subscribes to it.
static SUBSCRIBERS: [AtomicU32; CAUSES] = [const { AtomicU32::new(0) }; CAUSES];

impl Cause {
    pub const ALL: [Cause; 3] = [Cause::Slow, Cause::Panic, Cause::Asked];

    /// Its name, as names of snapshots have it.
    pub fn name(self) -> &'static str {
        match self {
            Cause::Slow => "slow",
            Cause::Panic => "panic",
            Cause::Asked => "asked",
        }
    }

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
pub fn clear() {
    for bits in &SUBSCRIBERS {
        bits.store(0, Relaxed);
    }
}
