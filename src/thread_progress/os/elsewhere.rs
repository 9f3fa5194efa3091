//! Systems that cannot tell whether a thread has ended; models and miri.
//!
//! An ended thread keeps its record of 64 bytes if it was ever pinned, and its ring in each session that recorded it.

pub(crate) use super::no_barrier::{barrier, register_barrier};

use std::cell::Cell;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::primitives::per_thread;

per_thread! {
    static ID: Cell<u32> = Cell::new(0);
}

/// Returns a number of the current thread, never zero.
pub(crate) fn thread_id() -> u32 {
    static GIVEN: AtomicU32 = AtomicU32::new(0);
    ID.with(|id| {
        if id.get() == 0 {
            let next = GIVEN.fetch_add(1, Ordering::Relaxed) + 1;
            // A signal handler may have taken a number meanwhile.
            if id.get() == 0 {
                id.set(next);
            }
        }
        id.get()
    })
}

pub(crate) fn has_ended(_thread: u32) -> bool {
    false
}

pub(crate) fn thread_name(_thread: u32) -> String {
    String::new()
}
