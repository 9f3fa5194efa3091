//! Which sessions take an operation. It is decided once, while the operation's entry fires, so that a filter holds for all events of
//! the operation.
//!
//! 1. Where the entry's arguments are read: [`Decision::decide`]. Each session whose filter does not want the entry then [refuses](refuse)
//!    the operation.
//! 2. When the entry has fired, the operation keeps what was [decided](Decision::decided).
//! 3. Where the arguments of a later event of it are read: [`Decision::say`]. Sessions with a filter ask whether it [was
//!    refused](was_refused).
//!
//! A session that had no filter when the operation was entered, or was not there, takes its later events. All three steps are those of
//! the thread that fires; a signal handler that fires an entry between two of them may have decided for both.

use std::cell::Cell;

use super::host::HOST;

/// A bit for each session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision(u32);

thread_local! {
    static NOW: Cell<u32> = const { Cell::new(u32::MAX) };
}

/// The sessions that take the current thread's event. A guest's sessions are the host's.
pub(super) fn now() -> u32 {
    HOST.get().map_or_else(|| NOW.get(), |host| (host.decision)())
}

pub(super) fn set_now(bits: u32) {
    HOST.get().map_or_else(|| NOW.set(bits), |host| (host.set_decision)(bits));
}

impl Decision {
    /// By every session.
    pub(crate) const BY_ALL: Decision = Decision(u32::MAX);

    /// The entry of an operation is about to fire.
    pub(crate) fn decide() {
        set_now(u32::MAX);
    }

    /// The sessions that have not refused the entry.
    pub(crate) fn decided() -> Decision {
        Decision(now())
    }

    /// An event of this operation is about to fire.
    pub(crate) fn say(self) {
        set_now(self.0);
    }
}

/// The session does not want the operation whose entry fires.
pub(super) fn refuse(session: usize) {
    NOW.set(NOW.get() & !(1 << session));
}

/// Whether the session did not want the operation whose event fires.
pub(super) fn was_refused(session: usize) -> bool {
    NOW.get() & 1 << session == 0
}
