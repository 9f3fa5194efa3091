//! A thread that publishes at intervals.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

use crate::publish::Publisher;

static IS_REGISTERED: AtomicBool = AtomicBool::new(false);

/// Publishes the counts of this process's pools once a second from now on, on a thread of its own, until the process ends.
///
/// Call it after the program has installed its exporter: counts go into the facade's recorder of the time when they are published.
/// Further calls do nothing. A forked child has no such thread, and has to use a [`Publisher`].
///
/// # Errors
///
/// The system gives no thread.
pub fn register() -> io::Result<()> {
    register_every(Duration::from_secs(1))
}

/// Like [`register`], with another interval.
///
/// # Errors
///
/// The system gives no thread.
pub fn register_every(interval: Duration) -> io::Result<()> {
    if IS_REGISTERED.swap(true, Relaxed) {
        return Ok(());
    }
    let publish = move || {
        let mut publisher = Publisher::default();
        loop {
            publisher.publish();
            thread::sleep(interval);
        }
    };
    let started = thread::Builder::new().name("dyntrace-metrics".to_owned()).spawn(publish);
    started.map(drop).inspect_err(|_| IS_REGISTERED.store(false, Relaxed))
}
