//! The end of a runtime and of the process: both wait for [promises](super::promises), for a pool's `exit_timeout` at most.
//!
//! A runtime that ends drops its [wake task](super::wake_task). The wake task then submits a wait to the runtime's blocking threads, as
//! tokio does for a write of its own: so `Runtime`'s drop waits for it, `shutdown_timeout` waits for that time, and
//! `shutdown_background` does not wait. In detail:
//!
//! 1. A `current_thread` runtime drops its tasks on the thread that drops it, before it waits for its blocking threads. After
//!    `shutdown_timeout` or `shutdown_background` it takes no more blocking work: it drops the wait on that thread, which must not
//!    block.
//! 2. A `multi_thread` runtime drops its tasks on its workers, which are blocking threads themselves. If it refuses the wait, the worker
//!    waits.
//! 3. A runtime drops its tasks one after the other, perhaps the wake task first, and its workers may still poll others meanwhile. A
//!    job that is promised after the drop of the wake task has a wait of its own, which its thread submits as the wake task would.
//! 4. A runtime that has ended refuses the wake task itself: there is nothing to wait for.
//!
//! The wait is in a destructor: at its end a runtime drops blocking work that has not started, on a blocking thread.

use std::io::{self, Write};
use std::sync::Once;
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use dyntrace_probes::contain::contain;
use tokio::runtime::{Handle, Id, RuntimeFlavor};

use super::promises::Scope;
use super::registry;

/// Called when a runtime has dropped its wake task, and when a job was promised after that.
pub(super) fn of_runtime(runtime: Id) {
    if !registry::all().iter().any(|shard| shard.has_open_promises(Scope::Runtime(runtime))) {
        return;
    }
    let Ok(handle) = Handle::try_current() else { return };
    let home = (handle.runtime_flavor() == RuntimeFlavor::CurrentThread).then(|| thread::current().id());
    let wait = Wait { runtime, home };
    // If tokio cannot start a thread, it panics and drops the wait. Its destructor then waits on this thread.
    contain(|| drop(handle.spawn_blocking(move || drop(wait))));
}

struct Wait {
    runtime: Id,
    /// The thread that must not block.
    home: Option<ThreadId>,
}

impl Drop for Wait {
    fn drop(&mut self) {
        if self.home != Some(thread::current().id()) {
            let (left, waited) = wait(Scope::Runtime(self.runtime));
            report(left, waited, "a tokio runtime ended", "they go on while the process lives");
        }
    }
}

/// From now on the normal exit of the process (the return of `main`, `std::process::exit`) waits.
#[cfg_attr(any(loom, miri), expect(dead_code))]
pub(super) fn notice_exit() {
    static NOTICED: Once = Once::new();
    NOTICED.call_once(|| {
        // SAFETY: the function stays mapped until it is called: the C library runs a library's exit handlers before it unloads the
        // library. The function does not unwind. If the C library has no memory for it, the exit does not wait.
        unsafe { libc::atexit(of_process) };
    });
}

extern "C" fn of_process() {
    contain(|| {
        let (left, waited) = wait(Scope::Process);
        report(left, waited, "the process exits", "what they had to write is lost");
    });
}

/// Waits for all pools, for the longest `exit_timeout` among them at most. Returns how many promises are left, and how long it waited.
fn wait(scope: Scope) -> (usize, Duration) {
    let began = Instant::now();
    let left = registry::all().into_iter().map(|shard| shard.await_promises(scope, began)).sum();
    (left, began.elapsed())
}

fn report(left: usize, waited: Duration, event: &str, fate: &str) {
    if left > 0 {
        let waited = waited.as_secs_f32();
        // An error cannot be reported any more.
        let _ = writeln!(
            io::stderr(),
            "dyntrace: {event} before {left} accepted file operations (writes, closes) were done: waited {waited:.1} s; {fate}. \
             Flush and close files before the end, or set a longer aio_pool::Builder::exit_timeout"
        );
    }
}
