//! Which sessions record an operation. Their filters decide once, while the operation's entry fires, so that all of its events are
//! recorded or none.
//!
//! 1. Before the entry fires: [`Decision::begin`], for all sessions that look at entries. Each session with a filter then
//!    [decides](decide).
//! 2. After the entry has fired, the operation keeps [`Decision::current`].
//! 3. Before a later event of the operation fires: [`Decision::apply`]. Sessions with a filter ask whether they [take](is_taken) the
//!    operation: not if they did not see its entry. A slot that was free for the longest time is taken next: a session there
//!    takes an operation of which an earlier one in that slot has seen the entry only after 32 others.
//!
//! The thread that fires does each step; a signal handler that fires an entry between two steps may decide for both.

use std::cell::Cell;

use super::host::HOST;

/// One bit for each session that records the operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision(u32);

thread_local! {
    static CURRENT: Cell<u32> = const { Cell::new(u32::MAX) };
}

/// The sessions that record the current thread's event. A guest's sessions are the host's.
#[inline]
pub fn current() -> u32 {
    HOST.get().map_or_else(|| CURRENT.get(), |host| (host.decision)())
}

#[inline]
pub fn set_current(bits: u32) {
    HOST.get().map_or_else(|| CURRENT.set(bits), |host| (host.set_decision)(bits));
}

impl Decision {
    /// Every session records the events: they have no entry.
    pub const ALL: Decision = Decision(u32::MAX);

    /// No session has seen the entry.
    pub const UNSEEN: Decision = Decision(0);

    /// Begins a decision: the entry of an operation is about to fire, for these sessions.
    #[inline]
    pub fn begin(sessions: u32) {
        set_current(sessions);
    }

    /// The sessions that take the operation.
    #[inline]
    pub fn current() -> Decision {
        Decision(current())
    }

    /// Applies the decision to the next event: it belongs to this operation.
    #[inline]
    pub fn apply(self) {
        set_current(self.0);
    }
}

/// Decides, for this session, whether it takes the operation whose entry fires.
#[inline]
pub fn decide(session: usize, takes: bool) {
    CURRENT.set(CURRENT.get() & !(1 << session) | u32::from(takes) << session);
}

/// Whether the session takes the operation whose event fires.
#[inline]
pub fn is_taken(session: usize) -> bool {
    CURRENT.get() & 1 << session != 0
}
