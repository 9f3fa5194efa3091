//! The waits of tasks that sleep. The maintenance thread looks after them; no thread of the program does.
//!
//! 10. A task that finds threads inside leaves its grace period and its waker here.
//! 11. The maintenance thread does step 6 for it, and wakes the task when it is over.
//! 12. The task finds it over under the lock, which carries what step 6 has acquired.

use std::mem;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Waker;
use std::time::Duration;

use super::grace_period::{GracePeriod, NOTABLE};
use super::late::{Held, Late};
use super::maintenance;
use super::per_process::PerProcess;
use crate::sync::{Mutex, MutexGuard, global, lock};

global! {
    static ALL: PerProcess<Mutex<Vec<Pending>>> = PerProcess::new();
}

struct Pending {
    ticket: Ticket,
    period: GracePeriod,
    is_over: bool,
    /// Who was inside until the last look.
    held: Option<Held>,
    /// Whether the maintenance thread looks after it.
    is_tended: bool,
    waker: Waker,
}

/// A wait's number, which no other has, in a forked child neither.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Ticket(u64);

pub(super) enum Answer {
    /// With who held it up, if that is worth a word.
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

/// The waits of tasks that have lasted as long as `patience`: who holds up each.
pub(crate) fn late(patience: Duration) -> Vec<Late> {
    // The maintenance thread wants that lock: names are asked for without it.
    let held: Vec<_> =
        pending().iter().filter(|wait| !wait.is_over).filter_map(|wait| wait.period.held(patience)).collect();
    held.into_iter().map(Held::named).collect()
}

/// Step 10.
pub(super) fn add(period: GracePeriod, waker: &Waker) -> Ticket {
    static LAST: AtomicU64 = AtomicU64::new(0);
    let ticket = Ticket(LAST.fetch_add(1, Ordering::Relaxed) + 1);
    let wait = Pending { ticket, period, is_over: false, held: None, is_tended: false, waker: waker.clone() };
    let mut pending = pending();
    pending.push(wait);
    see_to_it(pending, ticket, waker);
    ticket
}

/// Step 12. One that is over is forgotten.
///
/// Here and elsewhere, wakers are called and dropped without the lock: one may be the last of its task, and drop a wait with it.
pub(super) fn ask(ticket: Ticket, waker: &Waker) -> Answer {
    let own = waker.clone();
    let mut pending = pending();
    let Some(wait) = find(&mut pending, ticket) else { return Answer::LeftByFork };
    if wait.is_over {
        let held = wait.held.take();
        drop(pending);
        remove(ticket);
        return Answer::Over(held.map(Held::named));
    }
    let before = mem::replace(&mut wait.waker, own);
    see_to_it(pending, ticket, waker);
    drop(before);
    Answer::Pending
}

pub(super) fn remove(ticket: Ticket) {
    let mut pending = pending();
    let place = pending.iter().position(|wait| wait.ticket == ticket);
    let wait = place.map(|place| pending.swap_remove(place));
    drop(pending);
    drop(wait);
}

fn pending() -> MutexGuard<'static, Vec<Pending>> {
    lock(ALL.get())
}

fn find(pending: &mut [Pending], ticket: Ticket) -> Option<&mut Pending> {
    pending.iter_mut().find(|wait| wait.ticket == ticket)
}

/// Has the maintenance thread look after it. Where no thread can be had, its task looks itself, again and again.
fn see_to_it(mut pending: MutexGuard<'_, Vec<Pending>>, ticket: Ticket, waker: &Waker) {
    let Some(wait) = find(&mut pending, ticket) else { return };
    if !wait.is_tended {
        wait.is_tended = maintenance::give(move || tend(ticket)).is_ok();
    }
    if !wait.is_tended {
        wait.look();
        drop(pending);
        waker.wake_by_ref();
    }
}

/// Step 11.
fn tend(ticket: Ticket) -> Option<Duration> {
    let mut pending = pending();
    // It may have been dropped.
    let wait = find(&mut pending, ticket)?;
    wait.look();
    if !wait.is_over {
        return Some(wait.period.pause());
    }
    let waker = mem::replace(&mut wait.waker, Waker::noop().clone());
    drop(pending);
    waker.wake();
    None
}
