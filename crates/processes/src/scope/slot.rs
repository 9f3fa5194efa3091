//! The slot of a thread, and the scope that is entered there.
//!
//! The slot points to the value of the scope that was entered last, which stays where it is: in the future that is being polled. Outside
//! of all scopes it has the thread's own value.
//!
//! The slot has no destructor. The C library allocates where a thread registers one, and a firing in a signal handler may be the first
//! code of a thread that reads the slot. A thread that gets a value of its own registers its [`End`], which drops the value.

use std::cell::RefCell;
use std::marker::PhantomData;
use std::mem;
use std::process;
use std::ptr;

use dyntrace_probes::host::OfHost;
use tokio::task;

use super::{Own, PollPlace, Scope};

/// The content of a thread's slot.
pub struct SlotContent<T> {
    own: Scope<T>,
    /// The scope that was entered last; null outside of all scopes.
    entered: *mut Scope<T>,
    /// The number of polls that have begun on this thread.
    polls: u64,
}

impl<T: Own> SlotContent<T> {
    pub const NEW: Self = SlotContent {
        own: Scope { place: PollPlace::OF_THREAD, value: T::NOTHING },
        entered: ptr::null_mut(),
        polls: 0,
    };
}

impl<T> SlotContent<T> {
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
pub struct Slot<T: 'static>(OfHost<ForGuests<T>>);

/// The functions of the host's slot for guests.
pub struct ForGuests<T: 'static> {
    place: fn() -> *const RefCell<SlotContent<T>>,
    drop_at_end: fn(),
    /// The running task of the program's tokio. A guest's own tokio runs none.
    task: fn() -> Option<task::Id>,
}

// A guest may have been compiled with another version of tokio.
const _: () = assert!(size_of::<Option<task::Id>>() == size_of::<u64>());

impl<T: Own> ForGuests<T> {
    pub const fn new() -> ForGuests<T> {
        ForGuests { place: T::place, drop_at_end: T::drop_at_end, task: task::try_id }
    }
}

impl<T: Own> Slot<T> {
    pub const fn new() -> Slot<T> {
        Slot(OfHost::new())
    }

    /// Makes this copy of the crate a guest.
    pub fn enter(&self, for_guests: &'static ForGuests<T>) {
        self.0.install(for_guests);
    }

    /// The slot of the current thread.
    #[inline(always)]
    fn place(&self) -> *const RefCell<SlotContent<T>> {
        match self.0.get() {
            None => T::place(),
            Some(host) => (host.place)(),
        }
    }

    #[inline(always)]
    pub(super) fn with<R>(&self, look: impl FnOnce(&RefCell<SlotContent<T>>) -> R) -> R {
        // SAFETY: the current thread's slot, which has no destructor and lasts as long as the thread.
        look(unsafe { &*self.place() })
    }

    /// Called after each change of the slot's value.
    #[inline(always)]
    pub(super) fn changed(&self, content: &SlotContent<T>) {
        if content.entered.is_null() && !content.own.value.is_nothing() {
            match self.0.get() {
                None => T::drop_at_end(),
                Some(host) => (host.drop_at_end)(),
            }
        }
    }

    /// The running tokio task.
    #[inline]
    pub fn task(&self) -> Option<task::Id> {
        self.0.get().map_or_else(task::try_id, |host| (host.task)())
    }

    /// Puts `scope`, which belongs to `task` for now, into the slot until the result is dropped. `None` if the thread's own value was
    /// dropped, or a signal handler interrupted a change.
    #[inline(always)]
    pub(super) fn put<'a>(&self, scope: &'a mut Scope<T>, task: Option<task::Id>) -> Option<Entered<'a, T>> {
        let slot = self.place();
        // SAFETY: as in `with`.
        let mut content = unsafe { &*slot }.try_borrow_mut().ok()?;
        content.polls += 1;
        scope.place = PollPlace { task, poll: content.polls };
        let before = mem::replace(&mut content.entered, scope);
        content.scope().value.in_force();
        Some(Entered { slot, before, scope: PhantomData })
    }
}

/// Drops the own value of a thread at the thread's end. From then on nobody reaches the slot: it stays borrowed.
pub struct End<T: Own>(PhantomData<T>);

impl<T: Own> End<T> {
    pub const NEW: End<T> = End(PhantomData);
}

impl<T: Own> Drop for End<T> {
    fn drop(&mut self) {
        // SAFETY: as in `Slot::with`.
        let Ok(mut content) = unsafe { &*T::place() }.try_borrow_mut() else { return };
        let _value = mem::replace(&mut content.own.value, T::NOTHING);
        mem::forget(content);
    }
}

/// Makes the slot of each thread for values of a type, and implements [`Own`] for it, with these items.
macro_rules! own_slot {
    (impl Own for $type:ty, in $slot:ident { $($item:item)* }) => {
        ::std::thread_local! {
            static OWN: ::std::mem::ManuallyDrop<::std::cell::RefCell<$crate::scope::SlotContent<$type>>> =
                const { ::std::mem::ManuallyDrop::new(::std::cell::RefCell::new($crate::scope::SlotContent::NEW)) };
            static END: $crate::scope::End<$type> = const { $crate::scope::End::NEW };
        }

        impl $crate::scope::Own for $type {
            const SLOT: &'static $crate::scope::Slot<Self> = &$slot;

            #[inline(always)]
            fn place() -> *const ::std::cell::RefCell<$crate::scope::SlotContent<Self>> {
                OWN.with(|own| ::std::ptr::from_ref(&**own))
            }

            fn drop_at_end() {
                // In the thread's last destructors, it was called before: then this value is dropped already.
                let _ = END.try_with(|_| ());
            }

            $($item)*
        }
    };
}
pub(crate) use own_slot;

/// A scope that is entered. It leaves the scope when it is dropped, on the same thread, and after those that were entered later.
pub(super) struct Entered<'a, T: Own> {
    slot: *const RefCell<SlotContent<T>>,
    /// The scope around it; null if there is none.
    before: *mut Scope<T>,
    scope: PhantomData<&'a mut Scope<T>>,
}

impl<T: Own> Drop for Entered<'_, T> {
    #[inline(always)]
    fn drop(&mut self) {
        // SAFETY: the slot of `put`, as in `with`: this is the same thread.
        let slot = unsafe { &*self.slot };
        // No borrow outlasts the call that it is for. But a pointer that stayed would soon point to nothing.
        let Ok(mut content) = slot.try_borrow_mut() else { process::abort() };
        content.entered = self.before;
        content.scope().value.in_force();
    }
}
