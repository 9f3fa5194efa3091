//! The hook that has panics noted, and keeps the process until the snapshot is written.

use std::panic;
use std::sync::Once;
use std::sync::atomic::Ordering::{Acquire, Relaxed};
use std::time::{Duration, Instant};
use std::{io, thread};

use super::cause::Cause;
use super::slot::SLOTS;

/// How long a thread that panics waits for the snapshots. It may itself hold what the maintenance thread needs.
const PATIENCE: Duration = Duration::from_secs(10);

/// Puts the hook before the one that is there, once for the process. It does nothing while no session asks for panics.
pub(super) fn install_hook() -> io::Result<()> {
    static INSTALLED: Once = Once::new();
    if thread::panicking() {
        return Err(io::Error::other("a thread that panics cannot set a panic hook"));
    }
    INSTALLED.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            // First: the hook before may end the process.
            note_and_wait();
            before(info);
        }));
    });
    Ok(())
}

fn note_and_wait() {
    let waiting = Cause::Panic.told().map(|session| {
        let generation = SLOTS[session].generation.load(Relaxed);
        (session, generation, Cause::Panic.note(session))
    });
    let mut waiting: Vec<_> = waiting.collect();
    let deadline = Instant::now() + PATIENCE;
    loop {
        waiting.retain(|&(session, generation, request)| {
            let slot = &SLOTS[session];
            // Acquire: with the Release of the maintenance thread. The session may also have ended meanwhile.
            slot.answered[Cause::Panic as usize].load(Acquire) < request && slot.generation.load(Relaxed) == generation
        });
        if waiting.is_empty() || Instant::now() >= deadline {
            return;
        }
        thread::sleep(Duration::from_millis(1));
    }
}
