//! Task-local values that plain functions can read.
//!
//! Each thread has one slot for each kind of value. A [`Scoped`] future puts its own value into the slot before it is polled or dropped,
//! and what was there back after that. So the value follows its future across awaits, threads and runtimes. Streams, readers and closures
//! have values in the same way.
//!
//! Outside of all scopes the slot has the thread's own value. A tokio task without a scope may run on that thread, or inside of a
//! scope that polls other tasks (a `LocalSet`). It must not see a value that is not its own, so the slot remembers in which tokio
//! task it was filled, and is empty to all other tasks.

mod slot;
#[cfg(all(test, not(loom)))]
mod tests;

use std::cell::RefCell;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::task;

pub(crate) use slot::own_slot;
pub use slot::{End, ForGuests, Slot, SlotContent};

/// A value, and the place that it belongs to.
pub struct Scope<T> {
    place: PollPlace,
    value: T,
}

/// A place on a thread where code runs: in which tokio task, if any, and in which poll of a [`Scoped`] future.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct PollPlace {
    task: Option<task::Id>,
    /// Counted by the thread: no two polls share a number. 0 outside of all scopes.
    poll: u64,
}

/// A kind of task-local value. [`own_slot`] implements it.
pub trait Own: Sized + 'static {
    const SLOT: &'static Slot<Self>;
    /// The initial value of a thread.
    const NOTHING: Self;

    /// The current thread's slot in this copy of the crate. At the thread's end it stays borrowed.
    // By a function, not by a value that refers to it: so it is inlined, which halves what a poll pays.
    fn place() -> *const RefCell<SlotContent<Self>>;

    /// Whether nothing is lost if this is never dropped.
    fn is_nothing(&self) -> bool;

    /// Has the thread's own value dropped at the end of the thread. May allocate.
    fn drop_at_end();

    /// Called when the value is put into the slot of this thread.
    #[inline(always)]
    fn in_force(&self) {}
}

/// Why a value cannot be changed.
pub enum Refusal {
    /// The running tokio task has no scope.
    Foreign,
    /// The thread's own value was dropped, or a signal handler interrupted a change.
    Unreachable,
}

impl<T: Own> Scope<T> {
    fn is_of_the_running_task(&self, slot: &Slot<T>) -> bool {
        self.place.task == slot.task()
    }
}

impl PollPlace {
    const OF_THREAD: PollPlace = PollPlace { task: None, poll: 0 };
}

/// Returns where the current thread runs: in the running task, and in the innermost poll, be it of that task or of one around it.
pub fn place<T: Own>(slot: &'static Slot<T>) -> Option<PollPlace> {
    let poll = slot.with(|content| content.try_borrow().ok().map(|content| content.scope().place.poll))?;
    Some(PollPlace { task: slot.task(), poll })
}

/// Returns the part of the current value that `part` selects. Asks for the task only if there is a part.
#[inline(always)]
pub fn read<T: Own, R: Clone>(slot: &'static Slot<T>, part: impl FnOnce(&T) -> Option<&R>) -> Option<R> {
    slot.with(|content| {
        let content = content.try_borrow().ok()?;
        let scope = content.scope();
        let found = part(&scope.value)?;
        scope.is_of_the_running_task(slot).then(|| found.clone())
    })
}

/// Reads the slot, whether or not its value belongs to the running task.
pub fn look<T: Own>(slot: &'static Slot<T>, look: impl FnOnce(&T)) {
    let _ = slot.with(|content| content.try_borrow().map(|content| look(&content.scope().value)));
}

/// Changes the value in the slot, whether or not it belongs to the running task. `None` if it cannot be reached. `change` must not drop
/// anything: a destructor may read the slot.
pub fn change_any<T: Own, R>(slot: &'static Slot<T>, change: impl FnOnce(&mut T) -> R) -> Option<R> {
    change_where(slot, |_| true, change).ok()
}

/// Changes the current value. `change` must not drop anything: a destructor may read the slot.
#[inline]
pub fn change<T: Own, R>(slot: &'static Slot<T>, change: impl FnOnce(&mut T) -> R) -> Result<R, Refusal> {
    change_where(slot, |scope| scope.is_of_the_running_task(slot), change)
}

/// Likewise, if `is_worth` says so of the value in the slot. Asks for the task only then.
#[inline]
pub fn change_if<T: Own, R>(
    slot: &'static Slot<T>,
    is_worth: impl FnOnce(&T) -> bool,
    change: impl FnOnce(&mut T) -> R,
) -> Option<R> {
    change_where(slot, |scope| is_worth(&scope.value) && scope.is_of_the_running_task(slot), change).ok()
}

#[inline(always)]
fn change_where<T: Own, R>(
    slot: &'static Slot<T>,
    is_changed: impl FnOnce(&Scope<T>) -> bool,
    change: impl FnOnce(&mut T) -> R,
) -> Result<R, Refusal> {
    slot.with(|content| {
        let mut content = content.try_borrow_mut().map_err(|_| Refusal::Unreachable)?;
        let scope = content.scope_mut();
        if !is_changed(scope) {
            return Err(Refusal::Foreign);
        }
        let answer = change(&mut scope.value);
        slot.changed(&content);
        Ok(answer)
    })
}

pin_project_lite::pin_project! {
    /// A future, or another thing of type `F`, with a value of its own.
    pub struct Scoped<T: Own, F> {
        scope: Scope<T>,
        // Empty only while this is dropped, and in `run`.
        #[pin]
        future: Option<F>,
    }

    impl<T: Own, F> PinnedDrop for Scoped<T, F> {
        fn drop(this: Pin<&mut Self>) {
            let mut this = this.project();
            let _entered = T::SLOT.put(this.scope, T::SLOT.task());
            this.future.set(None);
        }
    }
}

impl<T: Own, F> Scoped<T, F> {
    pub fn new(value: T, future: F) -> Self {
        Scoped { scope: Scope { place: PollPlace::OF_THREAD, value }, future: Some(future) }
    }

    /// Calls `act` with the future while the value is in force.
    #[inline(always)]
    pub fn within<'a, R>(self: Pin<&'a mut Self>, act: impl FnOnce(Pin<&'a mut F>) -> R) -> R {
        let task = T::SLOT.task();
        self.within_task(task, act)
    }

    /// [`within`](Scoped::within) for a caller that knows the running task. The caller asks for it before each call: one task may poll the
    /// future, and another drop it.
    // A process's poll has two copies of it, one for tracers. Without the attribute both would call it.
    #[inline(always)]
    pub fn within_task<'a, R>(
        self: Pin<&'a mut Self>,
        task: Option<task::Id>,
        act: impl FnOnce(Pin<&'a mut F>) -> R,
    ) -> R {
        let this = self.project();
        let _entered = T::SLOT.put(this.scope, task);
        act(this.future.as_pin_mut().expect(THERE))
    }

    /// Consumes the future by `act` while the value is in force.
    pub fn run<R>(mut self, act: impl FnOnce(F) -> R) -> R {
        let _entered = T::SLOT.put(&mut self.scope, T::SLOT.task());
        act(self.future.take().expect(THERE))
    }

    /// Replaces the future by what `act` makes of it while the value is in force.
    pub fn map<G>(mut self, act: impl FnOnce(F) -> G) -> Scoped<T, G>
    where
        T: Clone,
    {
        let future = {
            let _entered = T::SLOT.put(&mut self.scope, T::SLOT.task());
            act(self.future.take().expect(THERE))
        };
        Scoped::new(self.scope.value.clone(), future)
    }

    /// The value, seen from outside of the scope.
    pub fn value(&self) -> &T {
        &self.scope.value
    }

    /// The future, seen from outside of the scope.
    pub fn get_ref(&self) -> &F {
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
