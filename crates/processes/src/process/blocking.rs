//! The probes of blocking closures, and the number of closures that wait for a thread.

use std::sync::atomic::{AtomicU32, Ordering};

use dyntrace_probes::sdt::Text;

use super::Pid;
use super::function::path;
use crate::probes::blocking as probes;

/// The number of blocking closures that wait for a thread.
static WAITING: AtomicU32 = AtomicU32::new(0);

/// The number of blocking closures that wait for a thread.
pub fn waiting() -> u32 {
    WAITING.load(Ordering::Relaxed)
}

/// A blocking closure, from the call that gives it to a runtime to its end. Fires `blocking-done` when it is dropped.
pub(super) struct Turn {
    pid: Pid,
    /// The path of the closure.
    function: &'static str,
    stage: Stage,
}

/// How the closure ends if it is dropped now.
enum Stage {
    /// It still waits for a thread.
    Queued,
    Runs,
    Returned,
}

impl Turn {
    /// Fires `blocking-add`.
    pub(super) fn begin<T>(pid: Pid) -> Turn {
        let function = path::<T>();
        // Relaxed, here and below: only the number counts.
        let before = WAITING.fetch_add(1, Ordering::Relaxed);
        probes::add(|| (pid, Text::plain(function), before + 1));
        Turn { pid, function, stage: Stage::Queued }
    }

    /// Calls the closure, after `blocking-get`.
    pub(super) fn call<R>(mut self, call: impl FnOnce() -> R) -> R {
        let before = WAITING.fetch_sub(1, Ordering::Relaxed);
        self.stage = Stage::Runs;
        probes::get(|| (self.pid, Text::plain(self.function), before - 1));
        let answer = call();
        self.stage = Stage::Returned;
        answer
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let (waiting, reason) = match self.stage {
            Stage::Queued => (WAITING.fetch_sub(1, Ordering::Relaxed) - 1, "cancelled"),
            Stage::Runs => (WAITING.load(Ordering::Relaxed), "panic"),
            Stage::Returned => (WAITING.load(Ordering::Relaxed), "normal"),
        };
        probes::done(|| (self.pid, Text::plain(self.function), waiting, reason));
    }
}
