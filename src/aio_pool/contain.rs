//! A panic of a work stays with the work.

use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs what others wrote. `None` if it panicked; the panic hook has told about it.
///
/// What it changed before the panic is dropped or only shown to its own `settle`: so asserting unwind safety is right.
pub(super) fn contain<R>(foreign: impl FnOnce() -> R) -> Option<R> {
    let payload = match catch_unwind(AssertUnwindSafe(foreign)) {
        Ok(value) => return Some(value),
        Err(payload) => payload,
    };
    // A payload may panic while it is dropped; the payload of that panic is not tried a third time.
    if let Err(second) = catch_unwind(AssertUnwindSafe(move || drop(payload))) {
        mem::forget(second);
    }
    None
}
