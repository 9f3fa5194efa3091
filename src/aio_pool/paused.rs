//! tokio's paused clock: while an operation is in flight the clock is not advanced, as during blocking work of tokio's own.
//!
//! Only a `current_thread` runtime can pause its clock, and only where some crate of the program asks for tokio's `test-util`. In any
//! other program all of this is compiled out. One piece of the runtime's blocking work *holds* the clock for all operations
//! in flight:
//!
//! 1. An operation that is submitted, or polled, while the clock is paused counts as a *flight* of the runtime. The first has a holder
//!    started.
//! 2. A flight ends when the task was woken: the runtime has something to do then, and does not advance its clock.
//! 3. The holder ends when there are no flights. There is an entry if and only if there is a holder.

use std::collections::HashMap;
use std::hint;
use std::mem;
use std::sync::{Arc, Condvar, LazyLock, Mutex, MutexGuard, PoisonError};
use std::task::{Wake, Waker};

use tokio::runtime::{Handle, Id, RuntimeFlavor};

use crate::forks::hold_across_forks;

/// Whether this build has `tokio::time::pause`: names that a block imports come before those around it.
const CAN_PAUSE: bool = {
    #[allow(unused_imports, reason = "it has the name or not, by a feature of another crate")]
    use tokio::time::*;
    returns_nothing(pause)
};

/// Found where tokio has no function of this name.
#[allow(dead_code, reason = "as above")]
fn pause() -> u8 {
    0
}

const fn returns_nothing<R>(_: fn() -> R) -> bool {
    mem::size_of::<R>() == 0
}

/// An operation in flight, in a runtime whose clock is paused.
pub(crate) struct Flight(Id);

type Flights = HashMap<Id, usize>;

fn flights() -> MutexGuard<'static, Flights> {
    static FLIGHTS: LazyLock<Mutex<Flights>> = LazyLock::new(Default::default);
    FLIGHTS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Rung when a runtime has none any more.
static LANDED: Condvar = Condvar::new();

impl Flight {
    /// Step 1; `None` where the clock is not paused.
    #[inline(always)]
    pub(crate) fn begin() -> Option<Flight> {
        if !CAN_PAUSE || cfg!(loom) {
            return None;
        }
        let runtime = Handle::try_current().ok()?;
        let can_pause = runtime.runtime_flavor() == RuntimeFlavor::CurrentThread;
        (can_pause && is_paused()).then(|| Flight::of(&runtime))
    }

    #[cold]
    fn of(runtime: &Handle) -> Flight {
        hold_across_forks!(Flights, flights());
        let id = runtime.id();
        let mut flights = flights();
        let is_held = flights.contains_key(&id);
        *flights.entry(id).or_default() += 1;
        drop(flights);
        if !is_held {
            let holder = Holder(id);
            runtime.spawn_blocking(move || holder.hold());
        }
        Flight(id)
    }

    /// A waker of the task that ends the flight once it has woken.
    pub(super) fn until_woken(self, task: &Waker) -> Waker {
        Arc::new(Passenger { task: task.clone(), _flight: self }).into()
    }
}

impl Drop for Flight {
    fn drop(&mut self) {
        let mut flights = flights();
        // A runtime that ended took its holder, and the entry, with it.
        if let Some(count) = flights.get_mut(&self.0) {
            *count -= 1;
            if *count == 0 {
                LANDED.notify_all();
            }
        }
    }
}

struct Passenger {
    task: Waker,
    _flight: Flight,
}

impl Wake for Passenger {
    fn wake(self: Arc<Self>) {
        self.task.wake_by_ref();
    }
}

/// Blocking work of the runtime, which may be dropped before it begins.
struct Holder(Id);

impl Holder {
    fn hold(self) {
        let mut flights = flights();
        while flights.get(&self.0).is_some_and(|count| *count > 0) {
            flights = LANDED.wait(flights).unwrap_or_else(PoisonError::into_inner);
        }
        // Under the lock that found none: the next flight starts another holder.
        flights.remove(&self.0);
        drop(flights);
        mem::forget(self);
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        flights().remove(&self.0);
    }
}

/// A paused clock stands still while time passes. This thread is in its runtime, so nobody advances it meanwhile.
fn is_paused() -> bool {
    let (before, began) = (tokio::time::Instant::now(), std::time::Instant::now());
    while std::time::Instant::now() == began {
        hint::spin_loop();
    }
    tokio::time::Instant::now() == before
}
