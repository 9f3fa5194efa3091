//! A module that promises too much: it says that it can be unloaded, and leaves something for threads to do when they end.
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
    // SAFETY: broken on purpose; what it leaves to threads keeps it in memory, see the test.
    unloadable = unsafe { dyntrace::code::Unloadable::new() }
);
