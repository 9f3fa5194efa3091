//! A module that claims to be unloadable, but leaves thread-local destructors.
#![cfg(target_os = "linux")]

use std::cell::RefCell;

thread_local! {
    static NOTES: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

#[dyntrace::export]
fn note(note: String) -> usize {
    NOTES.with_borrow_mut(|notes| {
        notes.push(note);
        notes.len()
    })
}

dyntrace::module!(
    "forgetful",
    version = "1.0.0",
    // SAFETY: broken on purpose; its thread-local destructors keep it mapped, see the test.
    unloadable = unsafe { dyntrace::code::Unloadable::new() }
);
