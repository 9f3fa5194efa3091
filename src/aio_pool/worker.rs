//! An I/O thread.

use std::sync::Arc;

use super::contain::contain;
use super::queue::Taken;
use super::shared::{Entry, Shared};
use crate::sync::Condvar;

/// Does one job after the other until the pool ends.
pub(super) fn run(shared: &Arc<Shared>, number: usize, bell: &Condvar) {
    while let Some(taken) = shared.next(number, bell) {
        work(taken);
    }
}

/// Does one job.
pub(super) fn work(taken: Taken<Entry>) {
    let job = taken.announce();
    // A job contains its work by itself; this is for wakers, and for what is dropped with the job.
    contain(move || job.run());
}
