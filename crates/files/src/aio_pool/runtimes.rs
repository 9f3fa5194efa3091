//! The tokio runtimes that use a pool. Each has a [`Delivery`] and a [wake task](super::wake_task); the wake task's drop tells the pool
//! that the runtime ends.

use std::cell::RefCell;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Arc, LazyLock, MutexGuard, PoisonError};
use std::task::{RawWakerVTable, Waker};

use dyntrace_probes::forks::{self, hold_across_forks};
use tokio::runtime::{Handle, Id};

use super::delivery::{Delivery, TaskWaker};
use super::paused::ClockHold;
use super::wake_task;

type Registry = HashMap<Key, Arc<Delivery>>;

/// Names a delivery. A forked child may go on in a runtime of its parent, but not with its parent's delivery: the list's lock may be held
/// for ever, and a wake-up may write to a descriptor that both processes have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key {
    /// The count of forks when the delivery was made.
    forks: u64,
    runtime: Id,
}

impl Key {
    /// The delivery of this process for the runtime.
    pub fn of(runtime: Id) -> Key {
        Key { forks: forks::so_far(), runtime }
    }

    /// Returns the runtime, or `None` in a forked child.
    pub fn runtime(self) -> Option<Id> {
        (self.forks == forks::so_far()).then_some(self.runtime)
    }
}

/// Always `std`'s lock: loom's models have no runtime. The watchdog takes it all the time, so a fork must hold it.
fn registry() -> MutexGuard<'static, Registry> {
    static REGISTRY: LazyLock<std::sync::Mutex<Registry>> = LazyLock::new(Default::default);
    REGISTRY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Tells the wakers of tokio's tasks from others; null until a wake task was polled.
///
/// Relaxed, everywhere: it points to a static of tokio's, is compared and never followed. A thread that does not see it yet wakes
/// directly.
static TASK_VTABLE: AtomicPtr<RawWakerVTable> = AtomicPtr::new(ptr::null_mut());

/// Notes how tokio's tasks are woken, from the waker of a wake task.
pub(super) fn learn(waker: &Waker) {
    TASK_VTABLE.store(ptr::from_ref(waker.vtable()).cast_mut(), Ordering::Relaxed);
}

/// Step 1 of the [wake task](super::wake_task), for the task that polls now.
pub(super) fn task_waker(waker: &Waker) -> TaskWaker {
    match ClockHold::begin() {
        None => TaskWaker::new(waker.clone(), delivery_for(waker)),
        Some(hold) => TaskWaker::new(hold.until_woken(waker), None),
    }
}

/// Returns the delivery for the task that this waker wakes, or `None` if it wakes something else.
fn delivery_for(waker: &Waker) -> Option<Arc<Delivery>> {
    let task_vtable = TASK_VTABLE.load(Ordering::Relaxed).cast_const();
    if task_vtable.is_null() {
        // The first poll of the wake task stores the vtable of tasks' wakers.
        tokio::task::try_id()?;
        of_runtime(&Handle::try_current().ok()?);
        return None;
    }
    if !ptr::eq(task_vtable, waker.vtable()) {
        return None;
    }
    Some(of_runtime(&Handle::try_current().ok()?))
}

thread_local! {
    /// The delivery that this thread used last.
    static LAST: RefCell<Option<(Key, Arc<Delivery>)>> = const { RefCell::new(None) };
}

/// Has the pool learn of the end of the runtime that this thread is in, if any.
pub(crate) fn notice_runtime() {
    current();
}

/// Returns the runtime that this thread is in. From now on the pool learns of the runtime's end.
pub(super) fn current() -> Option<Id> {
    let runtime = Handle::try_current().ok()?;
    of_runtime(&runtime);
    Some(runtime.id())
}

/// Returns the runtime of the running task, or of the task that is dropped, if the runtime has dropped its wake task. Costs one load if
/// this thread's last runtime lives.
pub(super) fn ended() -> Option<Id> {
    let is_possible = LAST.try_with(|last| match &*last.borrow() {
        Some((_, delivery)) => delivery.has_ended(),
        None => false,
    });
    if !is_possible.unwrap_or(false) {
        return None;
    }
    // A thread that only entered a runtime is no part of its end.
    tokio::task::try_id()?;
    let runtime = Handle::try_current().ok()?;
    of_runtime(&runtime).has_ended().then(|| runtime.id())
}

fn of_runtime(runtime: &Handle) -> Arc<Delivery> {
    let key = Key::of(runtime.id());
    let last = LAST.try_with(|last| match &*last.borrow() {
        Some((of, delivery)) if *of == key => Some(Arc::clone(delivery)),
        _ => None,
    });
    if let Ok(Some(delivery)) = last {
        return delivery;
    }
    let delivery = registered(runtime, key);
    // Fails on a thread that ends.
    let _ = LAST.try_with(|last| last.replace(Some((key, Arc::clone(&delivery)))));
    delivery
}

fn registered(runtime: &Handle, key: Key) -> Arc<Delivery> {
    hold_across_forks!(Registry, registry());
    let delivery = match registry().entry(key) {
        Entry::Occupied(entry) => return Arc::clone(entry.get()),
        Entry::Vacant(entry) => Arc::clone(entry.insert(Delivery::new())),
    };
    wake_task::spawn(runtime, key, Arc::clone(&delivery));
    delivery
}

/// Removes the delivery of a runtime that ends.
pub(super) fn forget(key: Key) {
    let gone = registry().remove(&key);
    // Not under the lock: the wakers in it are foreign code.
    drop(gone);
}

/// Has every delivery of this process [look](Delivery::look) at its list. Returns whether tasks are left for their wake tasks.
pub(super) fn look() -> bool {
    let registry = registry();
    let own = registry.iter().filter(|(key, _)| key.runtime().is_some());
    let deliveries: Vec<_> = own.map(|(_, delivery)| Arc::clone(delivery)).collect();
    drop(registry);
    deliveries.iter().fold(false, |left, delivery| delivery.look() | left)
}

#[cfg(all(test, not(any(loom, miri))))]
mod tests {
    use std::sync::atomic::AtomicUsize;
    use std::task::Wake;

    use super::*;
    use crate::aio_pool::delivery::wake_all;
    use crate::forked::in_child;

    #[derive(Default)]
    struct Count(AtomicUsize);

    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// A task of the parent, which the parent's I/O threads hand to its wake task, is not the child's.
    #[test]
    fn a_forked_child_leaves_its_parents_deliveries_alone() {
        let _ = forks::count();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let inherited = of_runtime(runtime.handle());
        let woken = Arc::new(Count::default());
        let _ = wake_all([TaskWaker::new(Arc::clone(&woken).into(), Some(Arc::clone(&inherited)))]);
        in_child(|| {
            // A watchdog of another test may have woken it before.
            let before = woken.0.load(Ordering::Relaxed);
            let are_left = look() | look();
            let is_untouched = !are_left && woken.0.load(Ordering::Relaxed) == before;
            let is_own = !Arc::ptr_eq(&inherited, &of_runtime(runtime.handle()));
            // The wake task of the parent, and that of the child.
            drop(runtime);
            assert!(is_untouched && is_own && !inherited.has_ended());
        });
    }
}
