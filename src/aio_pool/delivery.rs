//! How answers come back to tasks: through one task of their own runtime.
//!
//! To wake a task from an I/O thread costs its runtime a lock and, where it sleeps, a system call: for each answer. From inside the
//! runtime the same is a push to a queue. So each runtime has a **driver**, a task that hands on what was answered:
//!
//! 1. An operation that is polled by a task leaves its waker together with the runtime's [`Delivery`].
//! 2. The I/O thread puts the wakers of what it answered on the delivery's list; if the driver sleeps, it wakes that one.
//! 3. The driver takes the list, wakes all that are on it, and has itself polled again behind them: what they ask for next may be
//!    answered by then, and no I/O thread need wake anybody.
//! 4. A driver that finds nothing leaves its waker under the list's lock and sleeps. So no answer comes between its look and its sleep.
//! 5. The driver goes when its runtime ends: whoever is on the list is woken directly, and so is everybody from then on.
//! 6. A driver may never get to run: every worker of its runtime may be blocked by the very task that waits for the answer. The
//!    [watch](super::watch) looks at each list every millisecond and wakes what it has seen twice. So an answer reaches its task
//!    under any executor.
//!
//! Only wakers of tokio's tasks go this way ([`runtimes`]). Other wakers (of `block_on`, of another executor inside a task, of
//! `FuturesUnordered`) are woken directly, because their executor may block the driver's thread.

use std::future::Future;
use std::iter;
use std::mem;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use tokio::runtime::Id;

use super::contain::contain;
use super::paused::Flight;
use super::{ending, runtimes};
use crate::sync::{Mutex, lock};

/// A task to be woken, and the way to it.
pub(super) struct Addressee {
    waker: Waker,
    delivery: Option<Arc<Delivery>>,
}

impl Addressee {
    /// Step 1, for the task that polls now.
    pub fn current(waker: &Waker) -> Addressee {
        match Flight::begin() {
            None => Addressee { waker: waker.clone(), delivery: runtimes::delivery_for(waker) },
            Some(flight) => Addressee { waker: flight.until_woken(waker), delivery: None },
        }
    }

    /// Whether it is the one that this waker wakes.
    pub fn is(&self, waker: &Waker) -> bool {
        self.waker.will_wake(waker)
    }

    fn goes_by(&self, delivery: &Arc<Delivery>) -> bool {
        self.delivery.as_ref().is_some_and(|own| Arc::ptr_eq(own, delivery))
    }

    /// Wakes it from this thread. A waker may be anybody's.
    pub fn wake(self) {
        contain(|| self.waker.wake());
    }
}

/// Step 2. Those that follow each other in one runtime come to its list together. Returns whether a driver has some of them: the
/// caller then calls the [watch](super::watch).
#[must_use]
pub(super) fn tell_all(addressees: impl IntoIterator<Item = Addressee>) -> bool {
    let mut has_driver = false;
    let mut rest = addressees.into_iter().peekable();
    while let Some(first) = rest.next() {
        match first.delivery.clone() {
            None => first.wake(),
            Some(delivery) => {
                let others = iter::from_fn(|| rest.next_if(|next| next.goes_by(&delivery)));
                has_driver |= delivery.put(iter::once(first).chain(others));
            }
        }
    }
    has_driver
}

/// What I/O threads and the driver of one runtime share.
pub(super) struct Delivery {
    list: Mutex<List>,
}

struct List {
    /// Each holds the delivery, too: it is dropped by the thread of the runtime that took hold of it, and I/O threads need not
    /// touch the count of holders.
    answered: Vec<Addressee>,
    driver: Presence,
    /// The watch has seen answers, and the driver has not taken the list since.
    seen: bool,
}

enum Presence {
    Asleep(Waker),
    /// It will look at the list again.
    Awake,
    Gone,
}

impl Delivery {
    pub fn new() -> Arc<Delivery> {
        // Awake: it was spawned, and its first poll comes.
        let list = List { answered: Vec::new(), driver: Presence::Awake, seen: false };
        Arc::new(Delivery { list: Mutex::new(list) })
    }

    /// Returns whether the driver has them.
    fn put(&self, addressees: impl Iterator<Item = Addressee>) -> bool {
        let mut list = lock(&self.list);
        if let Presence::Gone = list.driver {
            drop(list);
            addressees.for_each(Addressee::wake);
            return false;
        }
        list.answered.extend(addressees);
        let before = mem::replace(&mut list.driver, Presence::Awake);
        drop(list);
        if let Presence::Asleep(driver) = before {
            driver.wake();
        }
        true
    }

    /// Step 6, by the watch: wakes the answers that were there at its look before this one. Returns whether any are left.
    pub fn look(&self) -> bool {
        let mut list = lock(&self.list);
        if !list.seen {
            list.seen = !list.answered.is_empty();
            return list.seen;
        }
        list.seen = false;
        let late = mem::take(&mut list.answered);
        drop(list);
        late.into_iter().for_each(Addressee::wake);
        false
    }
}

/// The task that hands on.
pub(super) struct Driver {
    delivery: Arc<Delivery>,
    /// The list of the turn before, empty: the two are exchanged, so that none is allocated anew.
    spare: Vec<Addressee>,
    /// Its runtime, in the register.
    runtime: Option<Id>,
}

impl Driver {
    pub fn new(delivery: Arc<Delivery>, runtime: Option<Id>) -> Driver {
        Driver { delivery, spare: Vec::new(), runtime }
    }
}

impl Future for Driver {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        runtimes::learn(context.waker());
        let mut list = lock(&this.delivery.list);
        list.seen = false;
        if list.answered.is_empty() {
            list.driver = Presence::Asleep(context.waker().clone());
            return Poll::Pending;
        }
        mem::swap(&mut list.answered, &mut this.spare);
        drop(list);
        this.spare.drain(..).for_each(Addressee::wake);
        context.waker().wake_by_ref();
        Poll::Pending
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime {
            runtimes::forget(runtime);
        }
        let mut list = lock(&self.delivery.list);
        let left = mem::take(&mut list.answered);
        let driver = mem::replace(&mut list.driver, Presence::Gone);
        drop(list);
        drop(driver);
        left.into_iter().for_each(Addressee::wake);
        if let Some(runtime) = self.runtime {
            ending::of_runtime(runtime);
        }
    }
}

#[cfg(all(test, loom))]
mod models {
    use super::*;
    use crate::sync::{Condvar, thread, wait};

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
        let _ = tell_all([Addressee { waker, delivery: Some(delivery) }]);
    }

    /// Two answers come while the driver looks, sleeps, or goes: both tasks are woken.
    fn two_answers(turns: usize) {
        // Four threads: no thread is interrupted more often, or it would take hours.
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
                let mut driver = Driver::new(delivery, None);
                let woken = Arc::new(Signal::default());
                for _ in 0..turns {
                    let _ = Pin::new(&mut driver).poll(&mut Context::from_waker(&Arc::clone(&woken).into()));
                }
            });
            tasks.iter().for_each(|task| task.take());
            workers.into_iter().chain([driving]).for_each(|thread| thread.join().unwrap());
        });
    }

    #[test]
    fn loom_delivery_ends_at_once() {
        two_answers(0);
    }

    #[test]
    fn loom_delivery_ends_after_a_turn() {
        two_answers(1);
    }

    /// The driver sleeps when it has found nothing, and misses no answer.
    #[test]
    fn loom_delivery_driver_sleeps_and_is_woken() {
        loom::model(|| {
            let delivery = Delivery::new();
            let task = Arc::new(Signal::default());
            let worker = {
                let (delivery, waker) = (Arc::clone(&delivery), Arc::clone(&task).into());
                thread::spawn(move || put(delivery, waker))
            };
            let mut driver = Driver::new(delivery, None);
            let woken = Arc::new(Signal::default());
            let waker = Arc::clone(&woken).into();
            let mut drive = || Pin::new(&mut driver).poll(&mut Context::from_waker(&waker));
            while !*lock(&task.0) {
                let _ = drive();
                if !*lock(&task.0) {
                    woken.take();
                }
            }
            worker.join().unwrap();
        });
    }

    /// The driver never runs: two looks of the watch wake what came before the first.
    #[test]
    fn loom_delivery_watch_wakes_what_the_driver_leaves() {
        loom::model(|| {
            let delivery = Delivery::new();
            let task = Arc::new(Signal::default());
            let worker = {
                let (delivery, waker) = (Arc::clone(&delivery), Arc::clone(&task).into());
                thread::spawn(move || put(delivery, waker))
            };
            let driver = Driver::new(Arc::clone(&delivery), None);
            delivery.look();
            worker.join().unwrap();
            while delivery.look() {}
            assert!(*lock(&task.0), "woken");
            drop(driver);
        });
    }
}
