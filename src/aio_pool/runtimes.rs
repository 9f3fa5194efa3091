//! The tokio runtimes that use a pool: each has a [`Delivery`] and a driver task, by whose end the pool learns of the runtime's.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Arc, LazyLock, MutexGuard, PoisonError};
use std::task::{RawWakerVTable, Waker};

use tokio::runtime::{Handle, Id};

use super::delivery::{Delivery, Driver};
use crate::forks::hold_across_forks;

type Register = HashMap<Id, Arc<Delivery>>;

/// `std`'s lock always: loom's models have no runtime. The watch takes it again and again, so a fork must hold it.
fn register() -> MutexGuard<'static, Register> {
    static REGISTER: LazyLock<std::sync::Mutex<Register>> = LazyLock::new(Default::default);
    REGISTER.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What tells the wakers of tokio's tasks from others: null until a driver was polled.
///
/// Relaxed, everywhere: a static of tokio's, which is compared and never followed. A thread that does not see it yet wakes
/// directly.
static OF_TASKS: AtomicPtr<RawWakerVTable> = AtomicPtr::new(ptr::null_mut());

/// A driver is a task, so its waker is one of a task's.
pub(super) fn learn(waker: &Waker) {
    OF_TASKS.store(ptr::from_ref(waker.vtable()).cast_mut(), Ordering::Relaxed);
}

/// The delivery for the task that this waker wakes. `None` for a waker that is no task's.
pub(super) fn delivery_for(waker: &Waker) -> Option<Arc<Delivery>> {
    let of_tasks = OF_TASKS.load(Ordering::Relaxed).cast_const();
    if of_tasks.is_null() {
        // The driver's first poll tells how tasks are woken.
        tokio::task::try_id()?;
        of_runtime(&Handle::try_current().ok()?);
        return None;
    }
    if !ptr::eq(of_tasks, waker.vtable()) {
        return None;
    }
    Some(of_runtime(&Handle::try_current().ok()?))
}

thread_local! {
    /// The one that this thread asked for last.
    static LAST: RefCell<Option<(Id, Arc<Delivery>)>> = const { RefCell::new(None) };
    /// This thread is spawning a driver: one that is dropped meanwhile is dropped by a runtime that is gone.
    static SPAWNS: Cell<bool> = const { Cell::new(false) };
}

/// The runtime that this thread is in. Its end is noticed from now on.
pub(super) fn current() -> Option<Id> {
    let runtime = Handle::try_current().ok()?;
    of_runtime(&runtime);
    Some(runtime.id())
}

fn of_runtime(runtime: &Handle) -> Arc<Delivery> {
    let id = runtime.id();
    let last = LAST.try_with(|last| match &*last.borrow() {
        Some((of, delivery)) if *of == id => Some(Arc::clone(delivery)),
        _ => None,
    });
    if let Ok(Some(delivery)) = last {
        return delivery;
    }
    let delivery = registered(runtime);
    // A thread that ends has none any more.
    let _ = LAST.try_with(|last| last.replace(Some((id, Arc::clone(&delivery)))));
    delivery
}

fn registered(runtime: &Handle) -> Arc<Delivery> {
    hold_across_forks!(Register, register());
    let id = runtime.id();
    let delivery = match register().entry(id) {
        Entry::Occupied(entry) => return Arc::clone(entry.get()),
        Entry::Vacant(entry) => Arc::clone(entry.insert(Delivery::new())),
    };
    // Not under the register's lock: a runtime that is gone drops the driver at once.
    SPAWNS.set(true);
    runtime.spawn(Driver::new(Arc::clone(&delivery), Some(id)));
    SPAWNS.set(false);
    delivery
}

/// Whether this thread spawns a driver.
pub(super) fn is_spawning() -> bool {
    SPAWNS.get()
}

/// The runtime ends.
pub(super) fn forget(runtime: Id) {
    let gone = register().remove(&runtime);
    // Not under the lock: the wakers in it may be anybody's.
    drop(gone);
}

/// Has every delivery [looked at](Delivery::look). Returns whether answers are left for their drivers.
pub(super) fn look() -> bool {
    let deliveries: Vec<_> = register().values().cloned().collect();
    deliveries.iter().fold(false, |left, delivery| delivery.look() | left)
}
