//! Systems that cannot tell whether a thread has ended; models and miri.
//!
//! A thread gives its record back at its end. It keeps its ring in each session that recorded it.

pub use super::no_barrier::{barrier, register_barrier};

use std::cell::Cell;
#[cfg(not(loom))]
use std::mem;
#[cfg(not(loom))]
use std::ptr;
#[cfg(not(loom))]
use std::sync::atomic::{AtomicPtr, AtomicU64};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::primitives::per_thread;

per_thread! {
    static ID: Cell<u32> = Cell::new(0);
}

/// Returns a number of the current thread, never zero.
pub fn thread_id() -> u32 {
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

/// Has the current thread call `act` at its end, after its thread-local values are dropped. The last `act` of the program counts for all.
#[cfg(not(loom))]
pub fn at_end_of_thread(act: fn()) {
    static ACT: AtomicPtr<()> = AtomicPtr::new(ptr::null_mut());
    /// The key and 1; 0 without one.
    static KEY: AtomicU64 = AtomicU64::new(0);
    const FIRST_ROUND: *mut libc::c_void = ptr::without_provenance_mut(1);
    const LAST_ROUND: *mut libc::c_void = ptr::without_provenance_mut(2);

    extern "C" fn ended(round: *mut libc::c_void) {
        if round == FIRST_ROUND {
            // Other keys' destructors, among them the standard library's, may come later in this round.
            // SAFETY: the key was made, and is never deleted.
            unsafe { libc::pthread_setspecific((KEY.load(Ordering::Acquire) - 1) as libc::pthread_key_t, LAST_ROUND) };
            return;
        }
        // SAFETY: the only value other than null that is stored: such a function.
        let act = unsafe { mem::transmute::<*mut (), fn()>(ACT.load(Ordering::Acquire)) };
        act();
    }

    ACT.store(act as *mut (), Ordering::Release);
    if KEY.load(Ordering::Acquire) == 0 {
        let mut key = 0;
        // SAFETY: a place for the key, and a function of the program.
        if unsafe { libc::pthread_key_create(&raw mut key, Some(ended)) } != 0 {
            return;
        }
        if KEY.compare_exchange(0, key as u64 + 1, Ordering::AcqRel, Ordering::Acquire).is_err() {
            // SAFETY: the key made above, which nobody has used.
            unsafe { libc::pthread_key_delete(key) };
        }
    }
    // SAFETY: the key was made, and is never deleted.
    unsafe { libc::pthread_setspecific((KEY.load(Ordering::Acquire) - 1) as libc::pthread_key_t, FIRST_ROUND) };
}

pub fn has_ended(_thread: u32) -> bool {
    false
}

pub fn thread_name(_thread: u32) -> String {
    String::new()
}
