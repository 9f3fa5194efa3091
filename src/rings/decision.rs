//! Which sessions record an operation. Their filters decide once, while the operation's entry fires, so that all of its events are
//! recorded or none.
//!
//! 1. Before the entry fires: [`Decision::begin`], for all sessions that look at entries. Each session with a filter then
//!    [decides](decide).
//! 2. After the entry has fired, the operation keeps [`Decision::current`].
//! 3. Before a later event of the operation fires: [`Decision::apply`]. Sessions with a filter ask whether they [take](is_taken) the
//!    operation: not if they did not see its entry, nor if an earlier session with the same bit did.
//!
//! The thread that fires does each step; a signal handler that fires an entry between two steps may decide for both.

use std::cell::Cell;
use std::sync::atomic::Ordering::{Acquire, Release};
use std::sync::atomic::{AtomicU32, fence};

use super::host::HOST;

/// One bit for each session that records the operation, and the number of the newest session at that time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision {
    sessions: u32,
    newest: u32,
}

/// The number of the newest session.
static NEWEST: AtomicU32 = AtomicU32::new(0);

thread_local! {
    static CURRENT: Cell<Decision> = const { Cell::new(Decision::ALL) };
}

/// Returns the number of a new session, before which its bits are clear. A forked child continues the count: its thread still refers to
/// rings of the parent.
pub(crate) fn next_session() -> u32 {
    // Release: with `Decision::begin`. The count does not wrap in practice.
    NEWEST.fetch_add(1, Release) + 1
}

pub(crate) fn newest_session() -> u32 {
    HOST.get().map_or_else(|| NEWEST.load(Acquire), |host| (host.newest_session)())
}

/// The sessions that record the current thread's event. A guest's sessions are the host's.
pub(crate) fn current() -> Decision {
    HOST.get().map_or_else(|| CURRENT.get(), |host| (host.decision)())
}

pub(crate) fn set_current(decision: Decision) {
    HOST.get().map_or_else(|| CURRENT.set(decision), |host| (host.set_decision)(decision));
}

impl Decision {
    /// Every session records the events: they have no entry.
    pub(crate) const ALL: Decision = Decision { sessions: u32::MAX, newest: u32::MAX };

    /// No session has seen the entry.
    pub(crate) const UNSEEN: Decision = Decision { sessions: 0, newest: 0 };

    /// Begins a decision: the entry of an operation is about to fire, for the sessions that `looking` returns.
    pub(crate) fn begin(looking: impl Fn() -> u32) {
        let mut newest = newest_session();
        loop {
            let sessions = looking();
            // A session's number is older than its bits: with the Release of the bits.
            fence(Acquire);
            let now = newest_session();
            if now == newest {
                return set_current(Decision { sessions, newest });
            }
            // Perhaps the bits are those of an ended session, whose slot a new one has.
            newest = now;
        }
    }

    /// The sessions that take the operation.
    pub(crate) fn current() -> Decision {
        current()
    }

    /// Applies the decision to the next event: it belongs to this operation.
    pub(crate) fn apply(self) {
        set_current(self);
    }
}

/// Decides, for the session in this slot, whether it takes the operation whose entry fires.
pub(crate) fn decide(slot: usize, takes: bool) {
    let Decision { sessions, newest } = CURRENT.get();
    CURRENT.set(Decision { sessions: sessions & !(1 << slot) | u32::from(takes) << slot, newest });
}

/// Whether the session in this slot takes the operation whose event fires.
pub(crate) fn is_taken(slot: usize, session: u32) -> bool {
    let Decision { sessions, newest } = CURRENT.get();
    sessions & 1 << slot != 0 && session <= newest
}
