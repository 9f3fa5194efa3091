//! The wake task: one task per tokio runtime, which wakes the runtime's other tasks when their operations complete.
//!
//! Waking a task from an I/O thread costs a lock of its runtime and, if the runtime sleeps, a system call, for each completion. From
//! inside the runtime it is a push to a queue. So each runtime that uses a pool has a **wake task**:
//!
//! 1. A task that polls an operation leaves its waker and the runtime's [`Delivery`].
//! 2. The I/O thread puts the wakers of completed operations on the delivery's list. If the wake task sleeps, the thread wakes it.
//! 3. The wake task takes the list, wakes all tasks on it, and reschedules itself behind them: their next operations may have
//!    completed when it runs again, and then no I/O thread has to wake anything.
//! 4. A wake task that finds an empty list leaves its waker under the list's lock and sleeps. So no completion is lost between its
//!    look and its sleep.
//! 5. The wake task ends with its runtime: the tasks on the list are woken directly, and so are all tasks from then on.
//! 6. A wake task may never run: the very task that waits for a completion may block all workers of the runtime. The
//!    [watchdog](super::watchdog) looks at each list every millisecond and wakes the tasks that it has seen twice. So a completion
//!    reaches its task under any executor.
//!
//! A forked child may go on in a runtime of its parent. It does not have the parent's I/O threads: operations of the child have a delivery
//! and a wake task of their own, and the copies of the parent's do nothing.
//!
//! Only wakers of tokio's tasks go this way ([`runtimes`]). Other wakers (of `block_on`, of another executor inside a task, of
//! `FuturesUnordered`) are woken directly, because their executor may block the wake task's thread.

use std::cell::Cell;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::runtime::Handle;

use super::delivery::{Delivery, TaskWaker};
use super::runtimes::Key;
use super::{ending, runtimes};

pub(super) struct WakeTask {
    delivery: Arc<Delivery>,
    /// Empty. Exchanged for the list, which saves an allocation.
    spare: Vec<TaskWaker>,
    /// `None` in models.
    key: Option<Key>,
}

thread_local! {
    /// Set while this thread spawns a wake task. A runtime that has ended drops the task at once.
    static SPAWNS: Cell<bool> = const { Cell::new(false) };
}

/// Spawns the wake task of `runtime`. No lock may be held: a runtime that has ended drops the task at once.
pub(super) fn spawn(runtime: &Handle, key: Key, delivery: Arc<Delivery>) {
    SPAWNS.set(true);
    runtime.spawn(WakeTask::new(delivery, Some(key)));
    SPAWNS.set(false);
}

impl WakeTask {
    fn new(delivery: Arc<Delivery>, key: Option<Key>) -> WakeTask {
        WakeTask { delivery, spare: Vec::new(), key }
    }

    /// Whether this is a forked child's copy. It does nothing: the child's operations have a wake task of their own.
    fn is_copy(&self) -> bool {
        self.key.is_some_and(|key| key.runtime().is_none())
    }
}

impl Future for WakeTask {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        if this.is_copy() {
            return Poll::Pending;
        }
        runtimes::learn(context.waker());
        if this.delivery.take(&mut this.spare, context.waker()) {
            this.spare.drain(..).for_each(TaskWaker::wake);
            context.waker().wake_by_ref();
        }
        Poll::Pending
    }
}

impl Drop for WakeTask {
    fn drop(&mut self) {
        if self.is_copy() {
            return;
        }
        if let Some(key) = self.key {
            runtimes::forget(key);
        }
        self.delivery.end();
        if let Some(runtime) = self.key.and_then(Key::runtime).filter(|_| !SPAWNS.get()) {
            ending::of_runtime(runtime);
        }
    }
}

#[cfg(all(test, loom))]
mod models {
    use std::task::Waker;

    use dyntrace_probes::primitives::{Condvar, Mutex, lock, thread, wait};

    use super::*;
    use crate::aio_pool::delivery::{TaskWaker, wake_all};

    /// A task that waits for its wake-up.
    #[derive(Default)]
    struct Signal(Mutex<bool>, Condvar);

    impl Signal {
        fn take(&self) {
            let mut given = lock(&self.0);
            while !*given {
                given = wait(&self.1, given);
            }
            *given = false;
        }
    }

    impl std::task::Wake for Signal {
        fn wake(self: Arc<Self>) {
            *lock(&self.0) = true;
            self.1.notify_one();
        }
    }

    fn put(delivery: Arc<Delivery>, waker: Waker) {
        let _ = wake_all([TaskWaker::new(waker, Some(delivery))]);
    }

    /// Two operations complete while the wake task looks, sleeps or ends: both tasks are woken.
    fn two_completions(turns: usize) {
        // Four threads: without this bound the model would take hours.
        let mut builder = loom::model::Builder::new();
        builder.preemption_bound = Some(2);
        builder.check(move || {
            let delivery = Delivery::new();
            let tasks: [Arc<Signal>; 2] = Default::default();
            let workers = tasks.each_ref().map(|task| {
                let (delivery, waker) = (Arc::clone(&delivery), Arc::clone(task).into());
                thread::spawn(move || put(delivery, waker))
            });
            let driving = thread::spawn(move || {
                let mut wake_task = WakeTask::new(delivery, None);
                let woken = Arc::new(Signal::default());
                for _ in 0..turns {
                    let _ = Pin::new(&mut wake_task).poll(&mut Context::from_waker(&Arc::clone(&woken).into()));
                }
            });
            tasks.iter().for_each(|task| task.take());
            workers.into_iter().chain([driving]).for_each(|thread| thread.join().unwrap());
        });
    }

    #[test]
    fn loom_delivery_ends_at_once() {
        two_completions(0);
    }

    #[test]
    fn loom_delivery_ends_after_a_turn() {
        two_completions(1);
    }

    /// The wake task sleeps when it has found nothing, and misses no completion.
    #[test]
    fn loom_delivery_wake_task_sleeps_and_is_woken() {
        loom::model(|| {
            let delivery = Delivery::new();
            let task = Arc::new(Signal::default());
            let worker = {
                let (delivery, waker) = (Arc::clone(&delivery), Arc::clone(&task).into());
                thread::spawn(move || put(delivery, waker))
            };
            let mut wake_task = WakeTask::new(delivery, None);
            let woken = Arc::new(Signal::default());
            let waker = Arc::clone(&woken).into();
            let mut drive = || Pin::new(&mut wake_task).poll(&mut Context::from_waker(&waker));
            while !*lock(&task.0) {
                let _ = drive();
                if !*lock(&task.0) {
                    woken.take();
                }
            }
            worker.join().unwrap();
        });
    }

    /// The wake task never runs: two looks of the watchdog wake the tasks that completed before the first.
    #[test]
    fn loom_delivery_watchdog_wakes_what_the_wake_task_leaves() {
        loom::model(|| {
            let delivery = Delivery::new();
            let task = Arc::new(Signal::default());
            let worker = {
                let (delivery, waker) = (Arc::clone(&delivery), Arc::clone(&task).into());
                thread::spawn(move || put(delivery, waker))
            };
            let wake_task = WakeTask::new(Arc::clone(&delivery), None);
            delivery.look();
            worker.join().unwrap();
            while delivery.look() {}
            assert!(*lock(&task.0), "woken");
            drop(wake_task);
        });
    }
}
