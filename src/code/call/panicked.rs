//! Panics inside a module become messages. They must not unwind into the program, whose copy of `std` could not handle them.

use std::any::Any;
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};

use dyntrace_processes::panic_text::panic_text;

/// A panic's message on its way from a module to its caller. One word that is never zero, which keeps results small.
#[derive(Debug)]
#[repr(transparent)]
pub struct Panicked(NonZeroUsize);

impl Panicked {
    fn new(message: String) -> Panicked {
        let message = Box::into_raw(Box::new(message));
        Panicked(NonZeroUsize::new(message.expose_provenance()).expect("a box is not at zero"))
    }

    /// The panic's message.
    pub fn into_message(self) -> String {
        // SAFETY: made by `new`, and taken once: it is neither `Clone` nor `Drop`. Guests use the host's allocator.
        *unsafe { Box::from_raw(std::ptr::with_exposed_provenance_mut(self.0.get())) }
    }
}

/// Runs a module's code, and catches its panics.
#[inline(always)]
pub fn caught<R>(run: impl FnOnce() -> R) -> Result<R, Panicked> {
    // Unwind safety is the module's concern: only it sees state that the panic left half done.
    catch_unwind(AssertUnwindSafe(run)).map_err(panicked)
}

#[cold]
#[inline(never)]
fn panicked(panic: Box<dyn Any + Send>) -> Panicked {
    Panicked::new(message(panic))
}

/// Also drops the payload, whose destructor may panic.
fn message(panic: Box<dyn Any + Send>) -> String {
    let text = panic_text(&*panic).to_owned();
    if let Err(again) = catch_unwind(AssertUnwindSafe(|| drop(panic))) {
        // Dropping this one could panic, too.
        std::mem::forget(again);
    }
    text
}

#[cfg(test)]
mod tests {
    use std::panic::panic_any;

    use super::*;

    #[test]
    fn panics_become_messages() {
        assert_eq!(caught(|| 7).unwrap(), 7);
        let of = |run: fn()| caught(run).unwrap_err().into_message();
        assert_eq!(of(|| panic!("no bread")), "no bread");
        assert_eq!(of(|| panic!("no {}", "milk")), "no milk");
        assert_eq!(of(|| panic_any(7)), "(a panic without a text)");
    }

    #[test]
    fn a_payload_that_panics_when_it_is_dropped() {
        struct Bomb;
        impl Drop for Bomb {
            fn drop(&mut self) {
                panic!("dropped");
            }
        }
        assert_eq!(caught(|| panic_any(Bomb)).unwrap_err().into_message(), "(a panic without a text)");
    }
}
