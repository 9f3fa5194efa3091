//! A module that must not be unloaded.
#![cfg(target_os = "linux")]

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

static TICKS: AtomicU64 = AtomicU64::new(0);

struct Last(Cell<u64>);

impl Drop for Last {
    fn drop(&mut self) {
        TICKS.fetch_add(self.0.get(), Ordering::Relaxed);
    }
}

thread_local! {
    static LAST: Last = const { Last(Cell::new(0)) };
}

/// Leaves a destructor in the calling thread.
#[dyntrace::export]
fn remember(number: u64) {
    LAST.with(|last| last.0.set(number));
}

/// Starts a thread that never ends.
#[dyntrace::export]
fn tick() -> &'static AtomicU64 {
    thread::spawn(|| {
        loop {
            TICKS.fetch_add(1, Ordering::Relaxed);
            thread::yield_now();
        }
    });
    &TICKS
}

dyntrace::module!("restless", version = "1.0.0");
