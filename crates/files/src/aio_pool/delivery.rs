//! The list by which I/O threads hand wakers to the [wake task](super::wake_task) of a runtime.

use std::iter;
use std::mem;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Waker;

use dyntrace_probes::contain::contain;
use dyntrace_probes::primitives::{Mutex, lock};

/// The waker of a task, and the delivery of its runtime, if it has one.
pub(super) struct TaskWaker {
    waker: Waker,
    delivery: Option<Arc<Delivery>>,
}

impl TaskWaker {
    pub fn new(waker: Waker, delivery: Option<Arc<Delivery>>) -> TaskWaker {
        TaskWaker { waker, delivery }
    }

    /// Returns whether both wake the same task.
    pub fn is(&self, waker: &Waker) -> bool {
        self.waker.will_wake(waker)
    }

    fn goes_by(&self, delivery: &Arc<Delivery>) -> bool {
        self.delivery.as_ref().is_some_and(|own| Arc::ptr_eq(own, delivery))
    }

    /// Wakes the task from this thread. A waker is foreign code.
    pub fn wake(self) {
        contain(|| self.waker.wake());
    }
}

/// Step 2. Consecutive wakers of one runtime go to its list together. Returns whether a wake task has some of them: then the caller
/// rouses the [watchdog](super::watchdog).
#[must_use]
pub(super) fn wake_all(wakers: impl IntoIterator<Item = TaskWaker>) -> bool {
    let mut has_wake_task = false;
    let mut rest = wakers.into_iter().peekable();
    while let Some(first) = rest.next() {
        match first.delivery.clone() {
            None => first.wake(),
            Some(delivery) => {
                let others = iter::from_fn(|| rest.next_if(|next| next.goes_by(&delivery)));
                has_wake_task |= delivery.put(iter::once(first).chain(others));
            }
        }
    }
    has_wake_task
}

/// Shared by I/O threads and the wake task of one runtime.
pub(super) struct Delivery {
    list: Mutex<List>,
    /// Set before the end of the runtime looks for promises under the pool's lock. That lock orders it: a thread that makes a promise after
    /// that look reads this flag afterwards, and sees it set. `std`'s type also in models, which have no runtime.
    has_ended: AtomicBool,
}

struct List {
    /// Each waker holds the delivery, too. The runtime's thread, which took that reference, drops it: I/O threads need not touch
    /// the reference count.
    completed: Vec<TaskWaker>,
    wake_task: WakeTaskState,
    /// The watchdog has seen wakers, and the wake task has not taken the list since.
    seen: bool,
}

enum WakeTaskState {
    Asleep(Waker),
    /// It will look at the list again.
    Awake,
    Gone,
}

impl Delivery {
    pub fn new() -> Arc<Delivery> {
        // Awake: it was spawned, and its first poll comes.
        let list = List { completed: Vec::new(), wake_task: WakeTaskState::Awake, seen: false };
        Arc::new(Delivery { list: Mutex::new(list), has_ended: AtomicBool::new(false) })
    }

    /// Returns whether the wake task has them.
    fn put(&self, wakers: impl Iterator<Item = TaskWaker>) -> bool {
        let mut list = lock(&self.list);
        if let WakeTaskState::Gone = list.wake_task {
            drop(list);
            wakers.for_each(TaskWaker::wake);
            return false;
        }
        list.completed.extend(wakers);
        let before = mem::replace(&mut list.wake_task, WakeTaskState::Awake);
        drop(list);
        if let WakeTaskState::Asleep(wake_task) = before {
            wake_task.wake();
        }
        true
    }

    /// Step 3: exchanges the list for the empty `spare`. Step 4: if it is empty, leaves `waker` and returns false.
    pub fn take(&self, spare: &mut Vec<TaskWaker>, waker: &Waker) -> bool {
        let mut list = lock(&self.list);
        list.seen = false;
        if list.completed.is_empty() {
            list.wake_task = WakeTaskState::Asleep(waker.clone());
            return false;
        }
        mem::swap(&mut list.completed, spare);
        true
    }

    /// Step 5: the wake task is gone. Wakes the tasks that are left on the list.
    pub fn end(&self) {
        self.has_ended.store(true, Ordering::Relaxed);
        let mut list = lock(&self.list);
        let left = mem::take(&mut list.completed);
        let wake_task = mem::replace(&mut list.wake_task, WakeTaskState::Gone);
        drop(list);
        drop(wake_task);
        left.into_iter().for_each(TaskWaker::wake);
    }

    /// Whether the wake task is gone.
    pub fn has_ended(&self) -> bool {
        self.has_ended.load(Ordering::Relaxed)
    }

    /// Step 6, by the watchdog: wakes the tasks that were on the list at its last look. Returns whether any are left.
    pub fn look(&self) -> bool {
        let mut list = lock(&self.list);
        if !list.seen {
            list.seen = !list.completed.is_empty();
            return list.seen;
        }
        list.seen = false;
        let late = mem::take(&mut list.completed);
        drop(list);
        late.into_iter().for_each(TaskWaker::wake);
        false
    }
}
