//! Task-local values that plain functions can read.
//!
//! Each thread has one slot for each kind of value. A [`Scoped`] future swaps its own value into the slot before it is polled or
//! dropped, and out after that. So the value follows its future across awaits, threads and runtimes. Streams, readers and closures
//! have values in the same way.
//!
//! Outside of all scopes the slot holds the thread's own value. A tokio task without a scope may run on that thread, or inside of a
//! scope that polls other tasks (a `LocalSet`). It must not see a value that is not its own, so the slot remembers in which tokio
//! task it was filled, and is empty to all other tasks.

use std::cell::RefCell;
use std::mem;
use std::pin::Pin;
use std::ptr;
use std::task::{Context, Poll};
use std::thread::LocalKey;

use tokio::task;

use crate::host::OfHost;

/// A value, and the place that it belongs to.
pub(crate) struct Scope<T> {
    place: Place,
    value: T,
}

/// A place on a thread where code runs: in which tokio task, if any, and in which poll of a [`Scoped`] future.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    task: Option<task::Id>,
    /// Counted by the thread: no two polls share a number. 0 outside of all scopes.
    poll: u64,
}

/// The content of a thread's slot.
pub(crate) struct Seat<T> {
    scope: Scope<T>,
    /// The number of polls that have begun on this thread.
    polls: u64,
}

/// A kind of task-local value.
pub(crate) trait Own: 'static {
    /// Called when the value is swapped into the slot of this thread.
    #[inline(always)]
    fn in_force(&self) {}
}

/// The slots of all threads for one kind of value. With several copies of this crate, those of the program's copy.
pub(crate) struct Slot<T: 'static> {
    own: &'static LocalKey<RefCell<Seat<T>>>,
    host: OfHost<Door<T>>,
}

/// The functions of the host's slot for guests.
pub(crate) struct Door<T: 'static> {
    /// The slot of the current thread; null once it is destroyed.
    place: fn() -> *const RefCell<Seat<T>>,
    /// The running task of the program's tokio. A guest's own tokio runs none.
    task: fn() -> Option<task::Id>,
}

// A guest may have been compiled with another version of tokio.
const _: () = assert!(size_of::<Option<task::Id>>() == size_of::<u64>());

impl<T> Door<T> {
    /// `place` returns the host's own slot.
    pub(crate) const fn new(place: fn() -> *const RefCell<Seat<T>>) -> Door<T> {
        Door { place, task: task::try_id }
    }
}

impl<T> Slot<T> {
    pub(crate) const fn new(own: &'static LocalKey<RefCell<Seat<T>>>) -> Slot<T> {
        Slot { own, host: OfHost::new() }
    }

    /// Makes this copy of the crate a guest.
    pub(crate) fn enter(&self, door: &'static Door<T>) {
        self.host.install(door);
    }

    /// `None` once the thread's slot is destroyed.
    #[inline(always)]
    fn with<R>(&self, look: impl FnOnce(&RefCell<Seat<T>>) -> R) -> Option<R> {
        let place = match self.host.get() {
            None => self.own.try_with(ptr::from_ref).unwrap_or(ptr::null()),
            Some(host) => (host.place)(),
        };
        // SAFETY: null, or the current thread's slot. It outlives this call: thread-local values are destroyed one after the other, and
        // a call during that is in the destructor of another one.
        unsafe { place.as_ref() }.map(look)
    }

    /// The running tokio task.
    #[inline]
    fn task(&self) -> Option<task::Id> {
        self.host.get().map_or_else(task::try_id, |host| (host.task)())
    }
}

/// Why a value cannot be changed.
pub(crate) enum Refusal {
    /// The running tokio task has no scope.
    Foreign,
    /// The thread's slot is destroyed, or a signal handler interrupted a change.
    Unreachable,
}

impl<T> Seat<T> {
    /// The initial value of a thread.
    pub(crate) const fn of_thread(value: T) -> Self {
        Seat { scope: Scope { place: Place::OF_THREAD, value }, polls: 0 }
    }
}

impl<T> Scope<T> {
    fn is_of_the_running_task(&self, slot: &Slot<T>) -> bool {
        self.place.task == slot.task()
    }
}

impl Place {
    const OF_THREAD: Place = Place { task: None, poll: 0 };
}

/// Returns where the current thread runs: in the running task, and in the innermost poll, be it of that task or of one around it.
pub(crate) fn place<T>(slot: &'static Slot<T>) -> Option<Place> {
    let poll = slot.with(|seat| seat.try_borrow().ok().map(|seat| seat.scope.place.poll))??;
    Some(Place { task: slot.task(), poll })
}

/// Returns the part of the current value that `part` selects. Asks for the task only if there is a part.
pub(crate) fn read<T, R: Clone>(slot: &'static Slot<T>, part: impl FnOnce(&T) -> Option<&R>) -> Option<R> {
    slot.with(|seat| {
        let scope = &seat.try_borrow().ok()?.scope;
        let found = part(&scope.value)?;
        scope.is_of_the_running_task(slot).then(|| found.clone())
    })?
}

/// Reads the slot, whether or not its value belongs to the running task.
pub(crate) fn look<T>(slot: &'static Slot<T>, look: impl FnOnce(&T)) {
    slot.with(|seat| seat.try_borrow().map(|seat| look(&seat.scope.value)));
}

/// Changes the value in the slot, whether or not it belongs to the running task. `None` if it cannot be reached. `change` must not drop
/// anything: a destructor may read the slot.
pub(crate) fn change_any<T, R>(slot: &'static Slot<T>, change: impl FnOnce(&mut T) -> R) -> Option<R> {
    slot.with(|seat| seat.try_borrow_mut().ok().map(|mut seat| change(&mut seat.scope.value)))?
}

/// Changes the current value. `change` must not drop anything: a destructor may read the slot.
#[inline]
pub(crate) fn change<T, R>(slot: &'static Slot<T>, change: impl FnOnce(&mut T) -> R) -> Result<R, Refusal> {
    slot.with(|seat| {
        let scope = &mut seat.try_borrow_mut().map_err(|_| Refusal::Unreachable)?.scope;
        if scope.is_of_the_running_task(slot) { Ok(change(&mut scope.value)) } else { Err(Refusal::Foreign) }
    })
    .unwrap_or(Err(Refusal::Unreachable))
}

pin_project_lite::pin_project! {
    /// A future, or another thing of type `F`, with a value of its own.
    pub(crate) struct Scoped<T: Own, F> {
        slot: &'static Slot<T>,
        scope: Scope<T>,
        // Empty only while this is dropped, and in `run`.
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
        Scoped { slot, scope: Scope { place: Place::OF_THREAD, value }, future: Some(future) }
    }

    /// Calls `act` with the future while the value is in force.
    // A process's poll has two copies of it, one for tracers. Without the attribute both would call it.
    #[inline(always)]
    pub(crate) fn within<'a, R>(self: Pin<&'a mut Self>, act: impl FnOnce(Pin<&'a mut F>) -> R) -> R {
        let this = self.project();
        let _entered = enter(this.slot, this.scope);
        act(this.future.as_pin_mut().expect(THERE))
    }

    /// Consumes the future by `act` while the value is in force.
    pub(crate) fn run<R>(mut self, act: impl FnOnce(F) -> R) -> R {
        let _entered = enter(self.slot, &mut self.scope);
        act(self.future.take().expect(THERE))
    }

    /// Replaces the future by what `act` makes of it while the value is in force.
    pub(crate) fn map<G>(mut self, act: impl FnOnce(F) -> G) -> Scoped<T, G>
    where
        T: Clone,
    {
        let future = {
            let _entered = enter(self.slot, &mut self.scope);
            act(self.future.take().expect(THERE))
        };
        Scoped::new(self.slot, self.scope.value.clone(), future)
    }

    /// The value, seen from outside of the scope.
    pub(crate) fn value(&self) -> &T {
        &self.scope.value
    }

    /// The future, seen from outside of the scope.
    pub(crate) fn get_ref(&self) -> &F {
        self.future.as_ref().expect(THERE)
    }
}

const THERE: &str = "only the end of the scope takes the future";

impl<T: Own, F: Future> Future for Scoped<T, F> {
    type Output = F::Output;

    #[inline(always)]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        self.within(
            #[inline(always)]
            |future| future.poll(context),
        )
    }
}

/// Swaps `scope` into the slot until the result is dropped. Does nothing if the thread's slot is destroyed.
fn enter<'a, T: Own>(slot: &'static Slot<T>, scope: &'a mut Scope<T>) -> Option<Entered<'a, T>> {
    // Each time: one task may poll the future, and another drop it.
    scope.place.task = slot.task();
    exchange(slot, scope, Seat::begin).then_some(Entered { slot, scope })
}

struct Entered<'a, T: Own> {
    slot: &'static Slot<T>,
    scope: &'a mut Scope<T>,
}

impl<T: Own> Drop for Entered<'_, T> {
    fn drop(&mut self) {
        exchange(self.slot, self.scope, |_, _| {});
    }
}

impl<T> Seat<T> {
    /// Numbers the poll that `scope` is swapped in for.
    fn begin(&mut self, scope: &mut Scope<T>) {
        self.polls += 1;
        scope.place.poll = self.polls;
    }
}

fn exchange<T: Own>(
    slot: &'static Slot<T>,
    scope: &mut Scope<T>,
    prepare: impl FnOnce(&mut Seat<T>, &mut Scope<T>),
) -> bool {
    slot.with(|seat| match seat.try_borrow_mut() {
        Ok(mut seat) => {
            prepare(&mut seat, scope);
            mem::swap(&mut seat.scope, scope);
            seat.scope.value.in_force();
            true
        }
        Err(_) => false,
    })
    .unwrap_or(false)
}
