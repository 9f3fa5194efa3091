//! A module whose library has a constructor that starts a thread.
#![cfg(target_os = "linux")]

use std::hint::black_box;
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

/// Memory allocated by the constructor.
static EARLY: Mutex<Option<String>> = Mutex::new(None);

/// The thread runs this module's code for ever.
extern "C" fn start() {
    *EARLY.lock().unwrap() = Some("an early bird's song".repeat(3));
    let thread = thread::Builder::new().name("early-bird".into());
    let _ = thread.spawn(|| {
        loop {
            black_box(early());
            thread::sleep(Duration::from_millis(1));
        }
    });
}

#[inline(never)]
fn early() -> usize {
    early as fn() -> usize as usize
}

// SAFETY: the dynamic linker calls functions of this type.
#[used]
#[unsafe(link_section = ".init_array")]
static START: extern "C" fn() = start;

/// Passes it to the caller.
#[dyntrace::export]
fn song() -> Option<String> {
    EARLY.lock().unwrap().take()
}

dyntrace::module!("early", version = "1.0.0");
