//! The waits of sleeping tasks. The maintenance thread checks them; no thread of the program does.
//!
//! 10. A task that finds pinned threads leaves its grace period and its waker here.
//! 11. The maintenance thread does step 6 for it, and wakes the task when the grace period is over.
//! 12. The task finds that under the lock, which hands it the writes that step 6 has acquired.

use std::collections::BTreeMap;
use std::mem;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Waker;
use std::time::Duration;

use super::grace_period::{GracePeriod, Held, Late, NOTABLE};
use super::maintenance;
use super::per_process::PerProcess;
use crate::primitives::{Mutex, MutexGuard, global, lock};

global! {
    static ALL: PerProcess<Mutex<Waits>> = PerProcess::new(forget);
}

type Waits = BTreeMap<WaitId, Pending>;

struct Pending {
    period: GracePeriod,
    is_over: bool,
    /// The threads that were pinned until the last look.
    held: Option<Held>,
    /// Whether the maintenance thread checks it.
    is_checked: bool,
    waker: Waker,
}

/// The number of a wait. Unique, also in a forked child.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct WaitId(u64);

pub(super) enum Answer {
    /// With the threads that delayed it, if it took [long](NOTABLE).
    Over(Option<Late>),
    Pending,
    /// It was pending in the parent.
    LeftByFork,
}

impl Pending {
    /// Step 6.
    fn look(&mut self) {
        self.held = self.period.held(NOTABLE);
        self.is_over = self.period.is_over();
    }
}

/// Returns the threads that delay each task's wait of at least `patience`.
pub fn late(patience: Duration) -> Vec<Late> {
    // Names are looked up without the lock, which the maintenance thread needs.
    let held: Vec<_> =
        pending().values().filter(|wait| !wait.is_over).filter_map(|wait| wait.period.held(patience)).collect();
    held.into_iter().map(Held::named).collect()
}

/// Step 10.
pub(super) fn add(period: GracePeriod, waker: &Waker) -> WaitId {
    static LAST: AtomicU64 = AtomicU64::new(0);
    let id = WaitId(LAST.fetch_add(1, Ordering::Relaxed) + 1);
    let wait = Pending { period, is_over: false, held: None, is_checked: false, waker: waker.clone() };
    let mut pending = pending();
    pending.insert(id, wait);
    ensure_checked(pending, id, waker);
    id
}

/// Step 12. Removes a wait that is over.
///
/// Here and elsewhere, wakers are called and dropped without the lock: a waker may be the last of its task, and drop a wait with it.
pub(super) fn ask(id: WaitId, waker: &Waker) -> Answer {
    let own = waker.clone();
    let mut pending = pending();
    let Some(wait) = pending.get_mut(&id) else { return Answer::LeftByFork };
    if wait.is_over {
        let held = wait.held.take();
        drop(pending);
        remove(id);
        return Answer::Over(held.map(Held::named));
    }
    let before = mem::replace(&mut wait.waker, own);
    ensure_checked(pending, id, waker);
    drop(before);
    Answer::Pending
}

pub(super) fn remove(id: WaitId) {
    let wait = pending().remove(&id);
    drop(wait);
}

/// Runs in a forked child.
extern "C" fn forget() {
    ALL.forget();
}

fn pending() -> MutexGuard<'static, Waits> {
    lock(ALL.get())
}

/// Has the maintenance thread check the wait. Without that thread, the task checks it itself, again and again.
fn ensure_checked(mut pending: MutexGuard<'_, Waits>, id: WaitId, waker: &Waker) {
    let Some(wait) = pending.get_mut(&id) else { return };
    if !wait.is_checked {
        wait.is_checked = maintenance::give(move || check(id)).is_ok();
    }
    if !wait.is_checked {
        wait.look();
        drop(pending);
        waker.wake_by_ref();
    }
}

/// Step 11.
fn check(id: WaitId) -> Option<Duration> {
    let mut pending = pending();
    // The wait may have been dropped.
    let wait = pending.get_mut(&id)?;
    wait.look();
    if !wait.is_over {
        return Some(wait.period.pause());
    }
    let waker = mem::replace(&mut wait.waker, Waker::noop().clone());
    drop(pending);
    waker.wake();
    None
}
