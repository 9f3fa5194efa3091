//! An I/O thread.

use std::sync::Arc;
use std::time::Duration;

use super::asleep::{Sleeps, ThreadNumber};
use super::clock::Time;
use super::contain::contain;
use super::pace;
use super::queue::Taken;
use super::shared::{Entry, Seat, Shared};
use crate::sync::Condvar;

/// How a job went.
pub(super) struct Served {
    pub service: Duration,
    /// Whether the thread slept in it for longer than it takes to wake another one.
    pub slept: bool,
}

/// Does one job after the other until the pool ends.
pub(super) fn run(shared: &Arc<Shared>, seat: Seat, bell: &Condvar) {
    shared.arrive(seat, ThreadNumber::current());
    let mut sleeps = Sleeps::begin();
    // How often it slept for want of a job since `sleeps` was asked.
    let mut waits = 0;
    let mut last = None;
    while let Some(taken) = shared.next(seat, bell, last, &mut waits) {
        let begun = taken.begun;
        work(taken);
        let service = Time::now().since(begun);
        let is_long = service > pace::WAKE_UP;
        let slept = is_long && sleeps.are_more_than(std::mem::take(&mut waits));
        last = Some(Served { service, slept });
    }
}

/// Does one job.
pub(super) fn work(taken: Taken<Entry>) {
    let job = taken.announce();
    // A job contains its work by itself; this is for wakers, and for what is dropped with the job.
    contain(move || job.run());
}
