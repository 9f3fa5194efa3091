//! An I/O thread.

use std::sync::Arc;

use super::contain::contain;
use super::shared::Shared;
use crate::sync::Condvar;

/// Does one job after the other until the pool ends.
pub(super) fn run(shared: &Arc<Shared>, number: usize, bell: &Condvar) {
    while let Some(job) = shared.next(number, bell) {
        // A job contains its work by itself; this is for wakers, and for what is dropped with the job.
        contain(move || job.run());
    }
}
