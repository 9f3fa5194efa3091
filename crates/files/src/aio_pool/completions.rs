//! Completions that a worker has not reported yet: tasks to wake, and promises that it has fulfilled.
//!
//! Waking a runtime costs more than most jobs served from memory, and a worker finishes its batch before the runtime would run. So the
//! worker wakes the tasks of one batch after its last job: the runtime sleeps until then, and is woken once. Tasks do not wait for
//! jobs that take longer than a wake-up; if one blocks, the [watchdog](super::watchdog) wakes the tasks instead of the worker.
//!
//! The worker reports promises when it next takes the pool's lock; a thread that waits for promises collects them itself.

use std::mem;

use dyntrace_probes::primitives::{Mutex, lock};

use super::delivery::{TaskWaker, wake_all};
use super::promises::Promise;

pub(super) struct Completions(Mutex<Unreported>);

struct Unreported {
    wakers: Vec<TaskWaker>,
    promises: Vec<Promise>,
}

impl Completions {
    pub fn new() -> Self {
        Completions(Mutex::new(Unreported { wakers: Vec::new(), promises: Vec::new() }))
    }

    pub fn add_waker(&self, waker: TaskWaker) {
        lock(&self.0).wakers.push(waker);
    }

    pub fn add_promise(&self, promise: Promise) {
        lock(&self.0).promises.push(promise);
    }

    /// Wakes all tasks, in the order of their completions. Call it without a lock: wakers run foreign code. `spare`, which is empty,
    /// is exchanged for the list, which saves an allocation. Returns whether a runtime's wake task has some of them.
    pub fn wake(&self, spare: &mut Vec<TaskWaker>) -> bool {
        mem::swap(&mut lock(&self.0).wakers, spare);
        wake_all(spare.drain(..))
    }

    pub fn has_wakers(&self) -> bool {
        !lock(&self.0).wakers.is_empty()
    }

    /// Passes each promise fulfilled since the last call to `note`.
    pub fn report_promises(&self, note: impl FnMut(Promise)) {
        lock(&self.0).promises.drain(..).for_each(note);
    }
}
