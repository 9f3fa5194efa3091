//! Shared access to a value under a lock.

use std::mem;
use std::ops::Deref;
use std::panic::Location;
use std::ptr;

use tokio::sync::TryLockError;

use super::super::acquire::acquire;
use super::{HasLock, Holds, Lock, Readers, would_block};
use dyntrace_processes::waiting::Operation;

/// A lock of which one permit is held. Given back when this is dropped.
struct Held<R: Holds<Permits = Readers>>(R);

impl<R: Holds<Permits = Readers>> Drop for Held<R> {
    #[inline(always)]
    fn drop(&mut self) {
        self.0.lock().semaphore.add_permits(1);
    }
}

/// Access to a value of type `U`, or to a part of one, which others may read at the same time.
pub(in super::super) struct Shared<R: Holds<Permits = Readers>, U: ?Sized> {
    /// Valid while the permit is held.
    value: *const U,
    held: Held<R>,
}

// SAFETY: sending it sends a `&U` and the reference to the lock.
unsafe impl<R: Holds<Permits = Readers> + Send, U: ?Sized + Sync> Send for Shared<R, U> {}
// SAFETY: sharing it shares a `&U` and the reference to the lock.
unsafe impl<R: Holds<Permits = Readers> + Sync, U: ?Sized + Sync> Sync for Shared<R, U> {}

impl<M, R> Shared<R, M::Value>
where
    M: HasLock<Permits = Readers> + ?Sized,
    R: Holds<Permits = Readers> + Deref<Target = M>,
{
    /// Waits until nobody has exclusive access, or waits for it since before this.
    #[inline(always)]
    pub(in super::super) async fn lock(of: R, place: &'static Location<'static>) -> Self {
        let lock = of.lock();
        let permit = acquire(&lock.semaphore, 1, &lock.resource, Operation::Read, place).await;
        permit.unwrap_or_else(|_| unreachable!("nobody closes a lock's semaphore")).forget();
        Self::kept(of.locked().value.get(), of)
    }

    /// Shares the value if nobody has exclusive access, or waits for it.
    pub(in super::super) fn try_lock(of: R) -> Result<Self, TryLockError> {
        match of.lock().semaphore.try_acquire() {
            Ok(permit) => permit.forget(),
            Err(_) => return Err(would_block()),
        }
        Ok(Self::kept(of.locked().value.get(), of))
    }
}

impl<R: Holds<Permits = Readers>, U: ?Sized> Shared<R, U> {
    /// Only for the value of this lock or a part of it, and after a permit of the lock has been taken.
    #[inline(always)]
    pub(super) fn kept(value: *const U, of: R) -> Self {
        Shared { value, held: Held(of) }
    }

    /// The reference to the lock.
    pub(in super::super) fn of(&self) -> &R {
        &self.held.0
    }

    /// Access to a part of the value. The permit is given back if `part` panics.
    pub(in super::super) fn map<S: ?Sized>(self, part: impl FnOnce(&U) -> &S) -> Shared<R, S> {
        let Shared { value, held } = self;
        // SAFETY: a permit is held, so nobody has exclusive access.
        let value = part(unsafe { &*value });
        Shared { value, held }
    }

    /// Access to a part of the value, if there is one.
    pub(in super::super) fn try_map<S: ?Sized>(
        self,
        part: impl FnOnce(&U) -> Option<&S>,
    ) -> Result<Shared<R, S>, Self> {
        let Shared { value, held } = self;
        // SAFETY: a permit is held, so nobody has exclusive access.
        match part(unsafe { &*value }).map(ptr::from_ref) {
            Some(value) => Ok(Shared { value, held }),
            None => Err(Shared { value, held }),
        }
    }
}

impl<'a, M: HasLock<Permits = Readers> + ?Sized, U: ?Sized> Shared<&'a M, U> {
    /// Forgets the type of the value under the lock.
    pub(in super::super) fn of_any(self) -> Shared<&'a Lock<Readers>, U> {
        let Shared { value, held } = self;
        let lock = &held.0.locked().lock;
        mem::forget(held);
        Shared { value, held: Held(lock) }
    }
}

impl<R: Holds<Permits = Readers>, U: ?Sized> Deref for Shared<R, U> {
    type Target = U;

    #[inline(always)]
    fn deref(&self) -> &U {
        // SAFETY: a permit is held, so nobody has exclusive access.
        unsafe { &*self.value }
    }
}
