//! An I/O thread.

use std::cell::Cell;
use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::Id;

use super::answers::Answers;
use super::asleep::{ThreadNumber, Waits};
use super::clock::Time;
use super::contain::contain;
use super::delivery::Addressee;
use super::hand::Hand;
use super::pace::WAKE_UP;
use super::promises::Promise;
use super::runtimes;
use super::shared::{Entry, Seat, Shared};
use crate::probes::aio_pool as probes;
use crate::sync::Condvar;

/// How a job went.
pub(super) struct Served {
    pub service: Duration,
    /// Whether the thread waited in it for what another one need not wait for.
    pub slept: bool,
}

/// Does one job after the other until the pool ends.
pub(super) fn run(shared: &Arc<Shared>, seat: Seat, bell: &Condvar, hand: &Hand<Entry>, answers: &Answers) {
    shared.arrive(seat, ThreadNumber::current());
    let mut waits = Waits::begin();
    // How often it slept for want of a job since `waits` was asked.
    let mut idle = 0;
    let (mut served, mut told) = (Vec::new(), Vec::new());
    while let Some(mut begun) = shared.next(seat, bell, &mut served, &mut idle) {
        let mut last_told = begun;
        while let Some(entry) = hand.pop() {
            let promise = entry.promise;
            // What the job submits on its way (a CLOSE) is promised in the same name.
            WORKS_FOR.set(promise.and_then(|promise| promise.0));
            work(shared, seat, entry).into_iter().for_each(|addressee| answers.keep(addressee));
            if let Some(promise) = promise {
                answers.has_kept(promise);
                shared.has_kept();
            }
            let ended = Time::now();
            let service = ended.since(begun);
            begun = ended;
            // Asked for few works only: it is a system call.
            let slept =
                service > WAKE_UP && waits.were_for_others(service > seat.lane.nap(), std::mem::take(&mut idle));
            served.push(Served { service, slept });
            if ended.since(last_told) >= WAKE_UP {
                tell(shared, answers, &mut told);
                last_told = ended;
            }
        }
        tell(shared, answers, &mut told);
    }
}

fn tell(shared: &Shared, answers: &Answers, told: &mut Vec<Addressee>) {
    if answers.tell(told) {
        shared.call_watch();
    }
}

std::thread_local! {
    /// The runtime in whose name this worker does its job.
    static WORKS_FOR: Cell<Option<Id>> = const { Cell::new(None) };
}

/// In whose name this thread promises: of the runtime that it is in, or whose job it does.
pub(super) fn promise() -> Promise {
    if cfg!(loom) {
        // Its models have no runtime.
        return Promise(None);
    }
    Promise(runtimes::current().or_else(|| WORKS_FOR.get()))
}

/// Does a job, and answers whom to tell of it. Fires `aio_pool-get` before: out of the pool's lock, so a trace may show it after a later
/// step of the same queue.
// Always: else what a probe costs here that nobody looks at would depend on what else is compiled.
#[inline(always)]
pub(super) fn work(shared: &Shared, seat: Seat, Entry { port, taken, job, .. }: Entry) -> Option<Addressee> {
    probes::get(|| {
        taken.apply();
        (port, shared.length(seat), seat.lane.number())
    });
    // A job contains its work by itself; this is for what is dropped with the job.
    contain(move || job.run())?
}
