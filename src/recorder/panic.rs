//! The panic hook that requests snapshots, and holds the panicking thread until they are written.

use std::panic;
use std::sync::Once;
use std::sync::atomic::Ordering::{Acquire, Relaxed};
use std::time::{Duration, Instant};
use std::{io, thread};

use dyntrace_probes::rings::cause::Cause;
use dyntrace_probes::rings::slot::SLOTS;

/// How long a panicking thread waits for the snapshots. It may hold a lock that the maintenance thread needs.
const PATIENCE: Duration = Duration::from_secs(10);

/// Puts the hook in front of the present one, once in the process. The hook does nothing while no session subscribes to panics.
pub(super) fn install_hook() -> io::Result<()> {
    static INSTALLED: Once = Once::new();
    if thread::panicking() {
        return Err(io::Error::other("a thread that panics cannot set a panic hook"));
    }
    INSTALLED.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            // First: the earlier hook may end the process.
            request_and_wait();
            before(info);
        }));
    });
    Ok(())
}

fn request_and_wait() {
    let waiting = Cause::Panic.subscribers().map(|session| {
        let generation = SLOTS[session].generation.load(Relaxed);
        (session, generation, Cause::Panic.request(session))
    });
    let mut waiting: Vec<_> = waiting.collect();
    let deadline = Instant::now() + PATIENCE;
    loop {
        waiting.retain(|&(session, generation, request)| {
            let slot = &SLOTS[session];
            // Acquire: with the Release of `Flight::mark_handled`. The session may also have ended meanwhile.
            slot.handled[Cause::Panic as usize].load(Acquire) < request && slot.generation.load(Relaxed) == generation
        });
        if waiting.is_empty() || Instant::now() >= deadline {
            return;
        }
        thread::sleep(Duration::from_millis(1));
    }
}
