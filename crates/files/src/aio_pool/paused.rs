//! tokio's paused clock: while an operation is in flight the clock does not advance, as during tokio's own blocking work.
//!
//! Only a `current_thread` runtime can pause its clock, and only if some crate of the program enables tokio's `test-util`. In any
//! other program all of this is compiled out. One blocking task of the runtime, the *holder*, holds the clock for all operations in
//! flight:
//!
//! 1. An operation that is submitted, or polled, while the clock is paused takes a [`ClockHold`]. The first hold starts the holder.
//! 2. A hold ends after the operation's task was woken: the runtime has something to do then, and does not advance its clock.
//! 3. The holder ends when there are no holds. A runtime has an entry in the table if and only if it has a holder.

use std::collections::HashMap;
use std::hint;
use std::mem;
use std::sync::{Arc, Condvar, LazyLock, Mutex, MutexGuard, PoisonError};
use std::task::{Wake, Waker};

use tokio::runtime::{Handle, Id, RuntimeFlavor};

use dyntrace_probes::forks::hold_across_forks;

/// Whether this build has `tokio::time::pause`. Names that a block imports take precedence over those around it.
const CAN_PAUSE: bool = {
    #[allow(unused_imports, reason = "it has the name or not, by a feature of another crate")]
    use tokio::time::*;
    returns_nothing(pause)
};

/// Found if tokio has no function of this name.
#[allow(dead_code, reason = "as above")]
fn pause() -> u8 {
    0
}

const fn returns_nothing<R>(_: fn() -> R) -> bool {
    mem::size_of::<R>() == 0
}

/// Keeps the paused clock of a runtime from advancing until it is dropped.
pub(crate) struct ClockHold(Id);

/// How many holds each runtime has.
type Holds = HashMap<Id, usize>;

fn holds() -> MutexGuard<'static, Holds> {
    static HOLDS: LazyLock<Mutex<Holds>> = LazyLock::new(Default::default);
    HOLDS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Notified when a runtime has no more holds.
static RELEASED: Condvar = Condvar::new();

impl ClockHold {
    /// Step 1. Returns `None` if the clock is not paused.
    #[inline(always)]
    pub(crate) fn begin() -> Option<ClockHold> {
        if !CAN_PAUSE || cfg!(loom) {
            return None;
        }
        let runtime = Handle::try_current().ok()?;
        let can_pause = runtime.runtime_flavor() == RuntimeFlavor::CurrentThread;
        (can_pause && is_paused()).then(|| ClockHold::of(&runtime))
    }

    #[cold]
    fn of(runtime: &Handle) -> ClockHold {
        hold_across_forks!(Holds, holds());
        let id = runtime.id();
        let mut holds = holds();
        let is_held = holds.contains_key(&id);
        *holds.entry(id).or_default() += 1;
        drop(holds);
        if !is_held {
            let holder = Holder(id);
            runtime.spawn_blocking(move || holder.hold());
        }
        ClockHold(id)
    }

    /// Returns a waker of the task, which ends the hold after it has woken the task.
    pub(super) fn until_woken(self, task: &Waker) -> Waker {
        Arc::new(HoldingWaker { task: task.clone(), _hold: self }).into()
    }
}

impl Drop for ClockHold {
    fn drop(&mut self) {
        let mut holds = holds();
        // A runtime that ended took its holder, and the entry, with it.
        if let Some(count) = holds.get_mut(&self.0) {
            *count -= 1;
            if *count == 0 {
                RELEASED.notify_all();
            }
        }
    }
}

struct HoldingWaker {
    task: Waker,
    _hold: ClockHold,
}

impl Wake for HoldingWaker {
    fn wake(self: Arc<Self>) {
        self.task.wake_by_ref();
    }
}

/// A blocking task of the runtime, which the runtime may drop before it starts.
struct Holder(Id);

impl Holder {
    fn hold(self) {
        let mut holds = holds();
        while holds.get(&self.0).is_some_and(|count| *count > 0) {
            holds = RELEASED.wait(holds).unwrap_or_else(PoisonError::into_inner);
        }
        // Under the lock that found no holds: the next hold starts another holder.
        holds.remove(&self.0);
        drop(holds);
        mem::forget(self);
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        holds().remove(&self.0);
    }
}

/// A paused clock stands still while time passes. Only this thread, which is in the runtime, could advance it.
fn is_paused() -> bool {
    let (before, began) = (tokio::time::Instant::now(), std::time::Instant::now());
    while std::time::Instant::now() == began {
        hint::spin_loop();
    }
    tokio::time::Instant::now() == before
}
