//! Locks that a forked child finds free: the forking thread holds them during the fork, so that no thread that the child lacks does.

/// Holds a lock across each fork from now on. `$lock` returns a guard of a `$type`, and does nothing else.
///
/// Without memory for the fork handlers, a child may find the lock taken for ever.
macro_rules! hold_across_forks {
    ($type:ty, $lock:expr) => {{
        use ::std::cell::Cell;
        use ::std::mem::ManuallyDrop;
        use ::std::sync::MutexGuard;
        use ::std::sync::atomic::{AtomicBool, Ordering::Relaxed};
        ::std::thread_local! {
            // Without a destructor, so that it lives as long as the thread.
            static HELD: Cell<Option<ManuallyDrop<MutexGuard<'static, $type>>>> = const { Cell::new(None) };
        }
        extern "C" fn hold() {
            HELD.set(Some(ManuallyDrop::new($lock)));
        }
        extern "C" fn release() {
            drop(HELD.take().map(ManuallyDrop::into_inner));
        }
        // Without a lock, which a fork could leave locked.
        static NOTED: AtomicBool = AtomicBool::new(false);
        if !NOTED.load(Relaxed) && !NOTED.swap(true, Relaxed) {
            let _ = $crate::thread_progress::os::around_fork(hold, release);
        }
    }};
}
pub(crate) use hold_across_forks;

#[cfg(all(test, not(any(loom, miri))))]
mod tests {
    use std::fs;
    use std::path::Path;

    use crate::sources;

    /// A forked child would wait for ever for a lock that another thread of its parent held.
    #[test]
    fn every_lock_of_the_process_is_held_or_made_anew() {
        let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        let is_lock = |line: &&str| {
            let line = line.trim_start();
            line.starts_with("static ")
                && line.contains("Mutex<")
                && !["PerProcess<", "Anew<", "MutexGuard<"].iter().any(|other| line.contains(other))
        };
        let mut locks = 0;
        for (path, text) in sources::product() {
            let found: Vec<_> = text.lines().filter(is_lock).collect();
            locks += found.len();
            // Some rooms hold the locks of all their files in one place.
            let of_room = fs::read_to_string(src.join(path.with_file_name("locks.rs"))).unwrap_or_default();
            let name = path.file_stem().and_then(|name| name.to_str()).unwrap_or_default();
            let is_held = text.contains("hold_across_forks!") || of_room.contains(&format!("{name}::"));
            assert!(found.is_empty() || is_held, "{}: {found:?}", path.display());
        }
        assert!(locks > 10, "{locks} locks");
    }
}
