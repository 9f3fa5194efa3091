//! What belongs to the running task, kept where a plain function finds it.
//!
//! Each thread has one slot per kind of value. A [`Scoped`] future exchanges its own value with the slot's before it is
//! polled or dropped, and back after, so a value goes where its future goes: across awaits, threads and runtimes.
//!
//! Outside all scopes the slot holds the thread's own value. A tokio task that brings no scope may run on that thread, or
//! inside a scope that polls others (a `LocalSet`), and must not see a value that is not its own. So the slot remembers
//! which tokio task it was filled in, and answers only there.

use std::cell::RefCell;
use std::mem;
use std::pin::Pin;
use std::ptr;
use std::task::{Context, Poll};
use std::thread::LocalKey;

use tokio::task;

use crate::host::OfHost;

/// A value and the tokio task it belongs to; `None` where there is no such task.
pub(crate) struct Scope<T> {
    task: Option<task::Id>,
    value: T,
}

/// A kind of value that tasks have of their own.
pub(crate) trait Own: 'static {
    /// It came in force on this thread.
    #[inline(always)]
    fn in_force(&self) {}
}

/// Where a thread has the value that is in force: the program's copy of this crate, if there are several.
pub(crate) struct Slot<T: 'static> {
    own: &'static LocalKey<RefCell<Scope<T>>>,
    host: OfHost<Door<T>>,
}

/// What the host's slot does for guests.
pub(crate) struct Door<T: 'static> {
    /// Where the current thread has its value; null where that is gone.
    place: fn() -> *const RefCell<Scope<T>>,
    /// The running task of the program's tokio: a guest's own runs none.
    task: fn() -> Option<task::Id>,
}

// A guest may have been compiled with another version of tokio.
const _: () = assert!(size_of::<Option<task::Id>>() == size_of::<u64>());

impl<T> Door<T> {
    /// `place` is that of the host's own slot.
    pub(crate) const fn new(place: fn() -> *const RefCell<Scope<T>>) -> Door<T> {
        Door { place, task: task::try_id }
    }
}

impl<T> Slot<T> {
    pub(crate) const fn new(own: &'static LocalKey<RefCell<Scope<T>>>) -> Slot<T> {
        Slot { own, host: OfHost::new() }
    }

    /// This copy is a guest from now on.
    pub(crate) fn enter(&self, door: &'static Door<T>) {
        self.host.install(door);
    }

    /// `None` where the thread's value is gone.
    #[inline(always)]
    fn with<R>(&self, look: impl FnOnce(&RefCell<Scope<T>>) -> R) -> Option<R> {
        let place = match self.host.get() {
            None => self.own.try_with(ptr::from_ref).unwrap_or(ptr::null()),
            Some(host) => (host.place)(),
        };
        // SAFETY: null, or the current thread's value, which is there as long as this runs: thread-local values are dropped
        // one after the other, and this would be in the drop of another.
        unsafe { place.as_ref() }.map(look)
    }

    /// The running tokio task.
    #[inline]
    fn task(&self) -> Option<task::Id> {
        self.host.get().map_or_else(task::try_id, |host| (host.task)())
    }
}

/// Why a value cannot be changed here.
pub(crate) enum Refusal {
    /// The running tokio task has no scope.
    Foreign,
    /// The thread's values are gone, or a signal handler came in the middle of a change.
    Unreachable,
}

impl<T> Scope<T> {
    /// What a thread has from the start.
    pub(crate) const fn of_thread(value: T) -> Self {
        Scope { task: None, value }
    }

    fn is_of_the_running_task(&self, slot: &Slot<T>) -> bool {
        self.task == slot.task()
    }
}

/// The part of the current value that `part` finds. Asks for the task only where there is something to hide.
pub(crate) fn read<T, R: Clone>(slot: &'static Slot<T>, part: impl FnOnce(&T) -> Option<&R>) -> Option<R> {
    slot.with(|scope| {
        let scope = scope.try_borrow().ok()?;
        let found = part(&scope.value)?;
        scope.is_of_the_running_task(slot).then(|| found.clone())
    })?
}

/// Looks at what is in the slot, whether or not it is the running task's.
pub(crate) fn look<T>(slot: &'static Slot<T>, look: impl FnOnce(&T)) {
    slot.with(|scope| scope.try_borrow().map(|scope| look(&scope.value)));
}

/// Changes the current value. `change` must not drop anything: a drop may run code that reads the slot.
#[inline]
pub(crate) fn change<T, R>(slot: &'static Slot<T>, change: impl FnOnce(&mut T) -> R) -> Result<R, Refusal> {
    slot.with(|scope| {
        let mut scope = scope.try_borrow_mut().map_err(|_| Refusal::Unreachable)?;
        if scope.is_of_the_running_task(slot) { Ok(change(&mut scope.value)) } else { Err(Refusal::Foreign) }
    })
    .unwrap_or(Err(Refusal::Unreachable))
}

pin_project_lite::pin_project! {
    /// A future with a value of its own.
    pub(crate) struct Scoped<T: Own, F> {
        slot: &'static Slot<T>,
        scope: Scope<T>,
        // Empty only while this is dropped.
        #[pin]
        future: Option<F>,
    }

    impl<T: Own, F> PinnedDrop for Scoped<T, F> {
        fn drop(this: Pin<&mut Self>) {
            let mut this = this.project();
            let _entered = enter(this.slot, this.scope);
            this.future.set(None);
        }
    }
}

impl<T: Own, F> Scoped<T, F> {
    pub(crate) fn new(slot: &'static Slot<T>, value: T, future: F) -> Self {
        Scoped { slot, scope: Scope { task: None, value }, future: Some(future) }
    }
}

impl<T: Own, F: Future> Future for Scoped<T, F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.project();
        let _entered = enter(this.slot, this.scope);
        let future = this.future.as_pin_mut().expect("only drop takes the future");
        future.poll(context)
    }
}

/// Puts `scope` in force until the answer is dropped. Does nothing on a thread whose slot is gone.
fn enter<'a, T: Own>(slot: &'static Slot<T>, scope: &'a mut Scope<T>) -> Option<Entered<'a, T>> {
    // Each time anew: a future may be polled by one task and dropped by another.
    scope.task = slot.task();
    exchange(slot, scope).then_some(Entered { slot, scope })
}

struct Entered<'a, T: Own> {
    slot: &'static Slot<T>,
    scope: &'a mut Scope<T>,
}

impl<T: Own> Drop for Entered<'_, T> {
    fn drop(&mut self) {
        exchange(self.slot, self.scope);
    }
}

fn exchange<T: Own>(slot: &'static Slot<T>, scope: &mut Scope<T>) -> bool {
    slot.with(|current| match current.try_borrow_mut() {
        Ok(mut current) => {
            mem::swap(&mut *current, scope);
            current.value.in_force();
            true
        }
        Err(_) => false,
    })
    .unwrap_or(false)
}
