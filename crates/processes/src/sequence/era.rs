//! Eras: the number of resets of all traces. A token is valid only in the era in which it was set.
//!
//! Relaxed throughout: a process that sets a token has read its era, and the message with the token orders that read before the
//! receiver's. So the receiver reads this era or a later one. Other processes may see a reset late.

use dyntrace_probes::host::ProgramWide;
use dyntrace_probes::primitives::atomic::AtomicU32;
use dyntrace_probes::primitives::atomic::Ordering::Relaxed;
use dyntrace_probes::primitives::global;

/// 0 until the program sets its first token; then it grows by one with each reset.
pub type Era = AtomicU32;

global! {
    static ERA: ProgramWide<Era> = ProgramWide::new(Era::new(0));
}

/// The era of this copy of the crate, for its guests.
pub fn own() -> &'static Era {
    ERA.own()
}

/// Makes this copy of the crate a guest.
pub fn enter(host: &'static Era) {
    ERA.enter(host);
}

/// Returns the era; 0 while no process can have a token.
#[inline]
pub fn era() -> u32 {
    ERA.get().load(Relaxed)
}

/// Begins the first era if none has begun, and returns the era, for a token that is set.
pub fn begun() -> u32 {
    match era() {
        0 => {
            // Only then: the exchange would be most of the cost of receiving a token.
            let _ = ERA.get().compare_exchange(0, 1, Relaxed, Relaxed);
            era()
        }
        begun => begun,
    }
}

/// Begins the next era. Does nothing if there has never been a token.
pub fn next() {
    let _ = ERA.get().fetch_update(Relaxed, Relaxed, |era| (era != 0).then(|| era.wrapping_add(1).max(1)));
}
