//! The slot of a thread, and the scope that is entered there.
//!
//! The slot points to the value of the scope that was entered last, which stays where it is: in the future that is being polled. Outside
//! of all scopes it has the thread's own value.

use std::cell::RefCell;
use std::marker::PhantomData;
use std::mem;
use std::process;
use std::ptr;

use tokio::task;

use super::{Own, Place, Scope};
use crate::host::OfHost;

/// The content of a thread's slot.
pub(crate) struct Seat<T> {
    own: Scope<T>,
    /// The scope that was entered last; null outside of all scopes.
    entered: *mut Scope<T>,
    /// The number of polls that have begun on this thread.
    polls: u64,
}

impl<T> Seat<T> {
    /// The initial value of a thread.
    pub(crate) const fn of_thread(value: T) -> Self {
        Seat { own: Scope { place: Place::OF_THREAD, value }, entered: ptr::null_mut(), polls: 0 }
    }

    pub(super) fn scope(&self) -> &Scope<T> {
        // SAFETY: null, or the scope of an `Entered` that lives: it has exclusive use of the scope, and ends before the scope does. It
        // gives that to this slot, which nobody else has borrowed mutably.
        unsafe { self.entered.as_ref() }.unwrap_or(&self.own)
    }

    pub(super) fn scope_mut(&mut self) -> &mut Scope<T> {
        // SAFETY: as in `scope`, and the slot is borrowed mutably.
        unsafe { self.entered.as_mut() }.unwrap_or(&mut self.own)
    }
}

/// The slots of all threads for one kind of value. With several copies of this crate, those of the program's copy.
pub(crate) struct Slot<T: 'static>(OfHost<Door<T>>);

/// The functions of the host's slot for guests.
pub(crate) struct Door<T: 'static> {
    /// The slot of the current thread; null once it is destroyed.
    place: fn() -> *const RefCell<Seat<T>>,
    /// The running task of the program's tokio. A guest's own tokio runs none.
    task: fn() -> Option<task::Id>,
}

// A guest may have been compiled with another version of tokio.
const _: () = assert!(size_of::<Option<task::Id>>() == size_of::<u64>());

impl<T: Own> Door<T> {
    pub(crate) const fn new() -> Door<T> {
        Door { place: T::place, task: task::try_id }
    }
}

impl<T: Own> Slot<T> {
    pub(crate) const fn new() -> Slot<T> {
        Slot(OfHost::new())
    }

    /// Makes this copy of the crate a guest.
    pub(crate) fn enter(&self, door: &'static Door<T>) {
        self.0.install(door);
    }

    /// Null once the thread's slot is destroyed.
    #[inline(always)]
    fn place(&self) -> *const RefCell<Seat<T>> {
        match self.0.get() {
            None => T::place(),
            Some(host) => (host.place)(),
        }
    }

    /// `None` once the thread's slot is destroyed.
    #[inline(always)]
    pub(super) fn with<R>(&self, look: impl FnOnce(&RefCell<Seat<T>>) -> R) -> Option<R> {
        // SAFETY: null, or the current thread's slot. It outlives this call: thread-local values are destroyed one after the other, and
        // a call during that is in the destructor of another one.
        unsafe { self.place().as_ref() }.map(look)
    }

    /// The running tokio task.
    #[inline]
    pub(crate) fn task(&self) -> Option<task::Id> {
        self.0.get().map_or_else(task::try_id, |host| (host.task)())
    }

    /// Puts `scope`, which belongs to `task` for now, into the slot until the result is dropped. `None` if the thread's slot is
    /// destroyed, or a signal handler interrupted a change.
    #[inline(always)]
    pub(super) fn put<'a>(&self, scope: &'a mut Scope<T>, task: Option<task::Id>) -> Option<Entered<'a, T>> {
        let slot = self.place();
        // SAFETY: as in `with`.
        let mut seat = unsafe { slot.as_ref() }?.try_borrow_mut().ok()?;
        seat.polls += 1;
        scope.place = Place { task, poll: seat.polls };
        let before = mem::replace(&mut seat.entered, scope);
        seat.scope().value.in_force();
        Some(Entered { slot, before, scope: PhantomData })
    }
}

/// A scope that is entered. It leaves the scope when it is dropped, on the same thread, and after those that were entered later.
pub(super) struct Entered<'a, T: Own> {
    slot: *const RefCell<Seat<T>>,
    /// The scope around it; null if there is none.
    before: *mut Scope<T>,
    scope: PhantomData<&'a mut Scope<T>>,
}

impl<T: Own> Drop for Entered<'_, T> {
    #[inline(always)]
    fn drop(&mut self) {
        // SAFETY: the thread's slot of `put`. The thread is in the same call as then, so its slot was not destroyed.
        let slot = unsafe { &*self.slot };
        // No borrow outlasts the call that it is for. But a pointer that stayed would soon point to nothing.
        let Ok(mut seat) = slot.try_borrow_mut() else { process::abort() };
        seat.entered = self.before;
        seat.scope().value.in_force();
    }
}
