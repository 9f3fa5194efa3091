//! What a worker has done and not reported yet: the tasks to wake, and the promises it has kept.
//!
//! To wake a runtime costs more than most jobs that are served from memory, and a worker's batch is over before the runtime would
//! run. So the tasks of one batch are told when its last job is done: the runtime sleeps until then, and is woken
//! once. Jobs that take longer than a wake-up are not waited for; and where one sleeps, the [watch](super::watch) tells instead of
//! the worker.
//!
//! Promises are reported with the worker's next lock of the pool; a thread that waits for them collects them itself.

use std::mem;

use super::delivery::{Addressee, tell_all};
use super::promises::Promise;
use crate::sync::{Mutex, lock};

pub(super) struct Answers(Mutex<Kept>);

struct Kept {
    addressees: Vec<Addressee>,
    promises: Vec<Promise>,
}

impl Answers {
    pub fn new() -> Self {
        Answers(Mutex::new(Kept { addressees: Vec::new(), promises: Vec::new() }))
    }

    pub fn keep(&self, addressee: Addressee) {
        lock(&self.0).addressees.push(addressee);
    }

    pub fn has_kept(&self, promise: Promise) {
        lock(&self.0).promises.push(promise);
    }

    /// Tells all tasks, in the order of their answers. Not under a lock: it runs code of others. `spare`, which is empty, is
    /// exchanged for the list, so that none is allocated anew. Returns whether a runtime's driver has some of them.
    pub fn tell(&self, spare: &mut Vec<Addressee>) -> bool {
        mem::swap(&mut lock(&self.0).addressees, spare);
        tell_all(spare.drain(..))
    }

    pub fn is_empty(&self) -> bool {
        lock(&self.0).addressees.is_empty()
    }

    /// Shows each promise that was kept since the last time.
    pub fn report(&self, note: impl FnMut(Promise)) {
        lock(&self.0).promises.drain(..).for_each(note);
    }
}
