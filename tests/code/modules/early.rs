//! A module that starts a thread before anybody can ask it: a constructor of the library does.
#![cfg(target_os = "linux")]

use std::hint::black_box;
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

/// Memory that was taken before anything of the module was called.
static EARLY: Mutex<Option<String>> = Mutex::new(None);

/// The thread runs this module's code for good.
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

// SAFETY: a function of the form that the dynamic linker calls.
#[used]
#[unsafe(link_section = ".init_array")]
static START: extern "C" fn() = start;

/// Gives it away.
#[dyntrace::export]
fn song() -> Option<String> {
    EARLY.lock().unwrap().take()
}

dyntrace::module!("early", version = "1.0.0");
