//! Operations that take longer than a session allows: reported by the thread on which they end.

use std::sync::atomic::Ordering::Relaxed;

use super::cause::Cause;
use super::descriptor::Descriptor;
use super::payload::Payload;
use super::slot::SLOTS;
use crate::clock;
use crate::thread_progress;

/// When an operation began, in ticks of 1024 cycles; 0 if no session asks how long it takes.
///
/// Small, as every operation carries it. It wraps, after 15 minutes on a clock of 5 GHz and later on slower ones; a longer time counts
/// modulo that.
#[derive(Clone, Copy, Debug)]
pub struct Began(u32);

const TICK: u32 = 10;

fn ticks() -> u32 {
    ((clock::now() >> TICK) as u32).max(1)
}

impl Began {
    /// Of operations whose time no session wants.
    pub const UNKNOWN: Began = Began(0);

    /// The time, if a session wants slow operations.
    #[inline]
    pub fn now() -> Began {
        if Cause::Slow.has_subscribers() { Began(ticks()) } else { Began::UNKNOWN }
    }
}

impl Descriptor {
    /// Reports the operation that began then and has ended with this event, which has fired already, to each session that records the
    /// event and for which the operation took too long.
    #[inline]
    pub fn ended<P: Payload>(&self, began: Began, payload: impl FnOnce() -> P) {
        if began.0 != 0 {
            self.ended_after(u64::from(ticks().wrapping_sub(began.0)) << TICK, payload);
        }
    }

    #[cold]
    fn ended_after<P: Payload>(&self, cycles: u64, payload: impl FnOnce() -> P) {
        // As for a firing: filters are read below.
        let Some(_pin) = thread_progress::pin() else { return };
        let payload = payload();
        let recording = self.sessions_acquired();
        for session in Cause::Slow.subscribers().filter(|session| recording & 1 << session != 0) {
            let slot = &SLOTS[session];
            if cycles > slot.slower.load(Relaxed) && slot.wants(session, self.id(), &payload) {
                Cause::Slow.request(session);
            }
        }
    }
}
