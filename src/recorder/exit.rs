//! The normal end of a program whose sessions are not stopped: the low-rate channels get the counts that only memory has.

use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::time::Duration;

use super::session::try_sessions;
use crate::thread_progress::os::without_file_size_signal;

/// How often the lock is tried, a millisecond apart: the thread that ends the program may be the one that holds it.
const TRIES: u32 = 100;

/// Has it done when the program ends. Repeated calls do nothing.
pub(super) fn tell_at_exit() {
    static DONE: AtomicBool = AtomicBool::new(false);
    if !DONE.swap(true, Relaxed) {
        // SAFETY: a function that is there as long as the program. Without memory to note it, the last counts are missing.
        unsafe { libc::atexit(tell) };
    }
}

extern "C" fn tell() {
    for _ in 0..TRIES {
        if let Some(mut sessions) = try_sessions() {
            let recordings = sessions.recordings.iter_mut().flatten();
            return without_file_size_signal(|| recordings.for_each(|recording| recording.tell_of_ringless()));
        }
        thread::sleep(Duration::from_millis(1));
    }
}
