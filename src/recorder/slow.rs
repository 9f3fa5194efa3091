//! Operations that take longer than a session allows: noted by the thread on which they end.

use std::sync::atomic::Ordering::Relaxed;

use super::clock;
use super::descriptor::Descriptor;
use super::payload::Payload;
use super::slot::SLOTS;
use super::trigger::Cause;
use crate::thread_progress;

/// When an operation began; 0 if no session asks how long it takes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Began(u64);

impl Began {
    /// For operations of which nobody will ask.
    pub(crate) const UNKNOWN: Began = Began(0);

    /// The time, if a session is to be told of operations that take long.
    #[inline]
    pub(crate) fn now() -> Began {
        if Cause::Slow.is_wanted() { Began(clock::now()) } else { Began::UNKNOWN }
    }
}

impl Descriptor {
    /// An operation that began then has ended with this event, which was fired before: tells those sessions that record the
    /// event and are to know of operations that took as long.
    #[inline]
    pub(crate) fn ended<P: Payload>(&self, began: Began, payload: impl FnOnce() -> P) {
        if began.0 != 0 {
            self.ended_after(clock::now().saturating_sub(began.0), payload);
        }
    }

    #[cold]
    fn ended_after<P: Payload>(&self, cycles: u64, payload: impl FnOnce() -> P) {
        // As for a firing: what the filters are is read below.
        let Some(_pin) = thread_progress::pin() else { return };
        let payload = payload();
        let recording = self.sessions_acquired();
        for session in Cause::Slow.told().filter(|session| recording & 1 << session != 0) {
            let slot = &SLOTS[session];
            if cycles > slot.slower.load(Relaxed) && slot.wants(self.id(), &payload) {
                Cause::Slow.note(session);
            }
        }
    }
}
