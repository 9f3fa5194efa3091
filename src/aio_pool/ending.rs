//! The end of a runtime, and of the process: both wait for what was [promised](super::promises), for a pool's `exit_timeout` at
//! most.
//!
//! A runtime that ends drops its [driver](super::delivery). The driver then leaves a wait with the runtime's blocking threads, as
//! tokio does for a write of its own: so `Runtime`'s drop waits for it, `shutdown_timeout` for that time, and
//! `shutdown_background` not at all. How that comes about:
//!
//! 1. A `current_thread` runtime drops its tasks on the thread that drops it, before it waits for its blocking threads. After
//!    `shutdown_timeout` or `shutdown_background` it takes no more blocking work: the wait is refused on that thread, and must not
//!    block it.
//! 2. A `multi_thread` runtime drops its tasks on its workers, which are blocking threads themselves. Where the wait is refused, the
//!    worker waits.
//! 3. A runtime that is gone refuses the driver itself: there is nothing to wait for.
//!
//! The wait is in a destructor: blocking work that has not begun is dropped at the runtime's end, on a blocking thread.

use std::io::{self, Write};
use std::sync::Once;
use std::thread::{self, ThreadId};
use std::time::Duration;

use tokio::runtime::{Handle, Id, RuntimeFlavor};

use super::contain::contain;
use super::promises::Of;
use super::{register, runtimes};

/// A runtime has dropped its driver.
pub(super) fn of_runtime(runtime: Id) {
    if runtimes::is_spawning() || !register::all().iter().any(|pool| pool.owes(Of::Runtime(runtime))) {
        return;
    }
    let Ok(handle) = Handle::try_current() else { return };
    let home = (handle.runtime_flavor() == RuntimeFlavor::CurrentThread).then(|| thread::current().id());
    let wait = Wait { runtime, home };
    // Without memory for a thread tokio panics. The wait is dropped then, so it is made here.
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
            let (left, waited) = wait(Of::Runtime(self.runtime));
            tell(left, waited, "a tokio runtime ended", "they go on while the process lives");
        }
    }
}

/// Has the normal exit of the process (the return of `main`, `std::process::exit`) wait, from now on.
#[cfg_attr(any(loom, miri), expect(dead_code))]
pub(super) fn notice_exit() {
    static NOTICED: Once = Once::new();
    NOTICED.call_once(|| {
        // SAFETY: the function stays where it is until it is called: a library that holds it has it called when it is unloaded. It
        // does not unwind. Where there is no memory for it, the exit does not wait.
        unsafe { libc::atexit(of_process) };
    });
}

extern "C" fn of_process() {
    contain(|| {
        let (left, waited) = wait(Of::Everybody);
        tell(left, waited, "the process exits", "what they had to write is lost");
    });
}

/// Returns how many are left, and the longest wait of a pool.
fn wait(of: Of) -> (usize, Duration) {
    let waits = register::all().into_iter().map(|pool| pool.await_promises(of));
    waits.fold((0, Duration::ZERO), |(left, longest), (more, waited)| (left + more, longest.max(waited)))
}

fn tell(left: usize, waited: Duration, event: &str, fate: &str) {
    if left > 0 {
        let waited = waited.as_secs_f32();
        // There is nobody left to tell if this fails.
        let _ = writeln!(
            io::stderr(),
            "dyntrace: {event} before {left} accepted file operations (writes, closes) were done: waited {waited:.1} s; {fate}. \
             Flush and close files before the end, or give a longer aio_pool::Builder::exit_timeout"
        );
    }
}
