//! Eras: how often the program's traces were reset. A token is of the one in which it was set, and counts in no other.
//!
//! Relaxed throughout: who sets a token has seen its era, and who receives one has it by way of who sent it, so that he sees that era
//! or a later one. Who has nothing to do with a reset may see it later than it was.

use crate::host::ProgramWide;
use crate::sync::atomic::AtomicU32;
use crate::sync::atomic::Ordering::Relaxed;
use crate::sync::global;

/// 0 until the first token of the program is set, then one more with each reset.
pub(crate) type Era = AtomicU32;

global! {
    static ERA: ProgramWide<Era> = ProgramWide::new(Era::new(0));
}

/// This copy's, for its guests.
pub(crate) fn own() -> &'static Era {
    ERA.own()
}

/// This copy is a guest from now on.
pub(crate) fn enter(host: &'static Era) {
    ERA.enter(host);
}

/// The era, 0 while there can be no token anywhere.
#[inline]
pub(crate) fn era() -> u32 {
    ERA.get().load(Relaxed)
}

/// The era for somebody who sets a token.
pub(crate) fn begun() -> u32 {
    match era() {
        0 => {
            // Not where there is one: it would be most of what it costs to receive a token.
            let _ = ERA.get().compare_exchange(0, 1, Relaxed, Relaxed);
            era()
        }
        begun => begun,
    }
}

/// Begins the next one. Where no token ever was there is nothing to end.
pub(crate) fn next() {
    let _ = ERA.get().fetch_update(Relaxed, Relaxed, |era| (era != 0).then(|| era.wrapping_add(1).max(1)));
}
