//! Catches panics of foreign code: jobs, wakers, handlers.

use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs foreign code. Returns `None` if it panicked; the panic hook has printed the message.
///
/// Unwind safety: values that the code changed before the panic are dropped, or only its own `settle` sees them.
pub fn contain<R>(foreign: impl FnOnce() -> R) -> Option<R> {
    let payload = match catch_unwind(AssertUnwindSafe(foreign)) {
        Ok(value) => return Some(value),
        Err(payload) => payload,
    };
    // A payload may panic while it is dropped; the payload of that panic is leaked.
    if let Err(second) = catch_unwind(AssertUnwindSafe(move || drop(payload))) {
        mem::forget(second);
    }
    None
}
