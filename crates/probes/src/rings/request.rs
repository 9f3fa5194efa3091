//! Requests of another process for the control socket, which it writes into probes' words. Firings see them; the recorder answers them.

use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

use super::descriptor::Descriptor;

/// The recorder's functions for a probe whose word has a request.
pub struct Answers {
    /// For probes that never fire in a signal handler.
    pub here: fn(&Descriptor),
    /// For all others.
    pub anywhere: fn(&Descriptor),
}

/// Null while no recorder answers.
static ANSWERS: AtomicPtr<Answers> = AtomicPtr::new(ptr::null_mut());

/// Has requests answered from now on.
pub fn answer(by: &'static Answers) {
    ANSWERS.store(ptr::from_ref(by).cast_mut(), Ordering::Relaxed);
}

fn answers() -> Option<&'static Answers> {
    // SAFETY: null, or the `'static` reference passed to `answer`, whose functions never change.
    unsafe { ANSWERS.load(Ordering::Relaxed).as_ref() }
}

#[cold]
fn asked_here(probe: &Descriptor) {
    if let Some(answers) = answers() {
        (answers.here)(probe);
    }
}

#[cold]
fn asked_anywhere(probe: &Descriptor) {
    if let Some(answers) = answers() {
        (answers.anywhere)(probe);
    }
}

impl Descriptor {
    /// Lets the recorder answer a request for the control socket. Not for probes that fire in signal handlers.
    #[inline]
    pub fn answer_if_requested(&self) {
        if self.is_control_requested() {
            asked_here(self);
        }
    }

    /// The same for a firing that no session records and that may be in a signal handler. For generated code.
    #[inline]
    pub fn unrecorded(&self) {
        if self.is_control_requested() {
            asked_anywhere(self);
        }
    }
}
