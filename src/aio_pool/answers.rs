//! Whom a worker has an answer for and has not told yet.
//!
//! To wake a runtime costs more than most works that are served from memory, and what a worker takes in hand is over before the runtime would
//! run. So whoever asked for the works of one hand is told when its last is done: the runtime sleeps until then, and is woken
//! once. Works that take longer than a wake-up are not waited for; and where one sleeps, the [watch](super::watch) tells instead of
//! the worker.

use std::mem;

use super::delivery::{Addressee, tell_all};
use crate::sync::{Mutex, lock};

pub(super) struct Answers(Mutex<Vec<Addressee>>);

impl Answers {
    pub fn new() -> Self {
        Answers(Mutex::new(Vec::new()))
    }

    pub fn keep(&self, addressee: Addressee) {
        lock(&self.0).push(addressee);
    }

    /// Tells all of them, in the order of their answers. Not under a lock: it runs code of others. `spare`, which is empty, is
    /// exchanged for the list, so that none is allocated anew.
    pub fn tell(&self, spare: &mut Vec<Addressee>) {
        mem::swap(&mut *lock(&self.0), spare);
        tell_all(spare.drain(..));
    }

    pub fn is_empty(&self) -> bool {
        lock(&self.0).is_empty()
    }
}
