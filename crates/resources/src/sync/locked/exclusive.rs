//! Exclusive access to a value under a lock.

use std::mem::{self, ManuallyDrop};
use std::ops::{Deref, DerefMut};
use std::panic::Location;
use std::ptr;

use tokio::sync::TryLockError;

use super::super::acquire::acquire;
use super::shared::Shared;
use super::{HasLock, Holds, Lock, Permits, Readers, would_block};

/// A lock of which all permits are held. Freed when this is dropped.
struct Held<R: Holds>(R);

impl<R: Holds> Drop for Held<R> {
    #[inline(always)]
    fn drop(&mut self) {
        let lock = self.0.lock();
        lock.holder.leave();
        lock.semaphore.add_permits(lock.permits.all() as usize);
    }
}

/// Exclusive access to a value of type `U`, or to a part of one, while the lock of `R` is held.
pub(in super::super) struct Exclusive<R: Holds, U: ?Sized> {
    /// Valid while the lock is held.
    value: *mut U,
    held: Held<R>,
}

// SAFETY: it is the only access to the value. So sending it sends a `&mut U` and the reference to the lock.
unsafe impl<R: Holds + Send, U: ?Sized + Send> Send for Exclusive<R, U> {}
// SAFETY: sharing it shares a `&U` and the reference to the lock.
unsafe impl<R: Holds + Sync, U: ?Sized + Sync> Sync for Exclusive<R, U> {}

impl<M: HasLock + ?Sized, R: Holds<Permits = M::Permits> + Deref<Target = M>> Exclusive<R, M::Value> {
    /// Waits until the lock is free, and takes it.
    #[inline(always)]
    pub(in super::super) async fn lock(of: R, place: &'static Location<'static>) -> Self {
        let lock = of.lock();
        let permits = acquire(&lock.semaphore, lock.permits.all(), &lock.resource, M::Permits::EXCLUSIVE, place).await;
        permits.unwrap_or_else(|_| unreachable!("nobody closes a lock's semaphore")).forget();
        Self::taken(of, place)
    }

    /// Takes the lock if it is free.
    pub(in super::super) fn try_lock(of: R, place: &'static Location<'static>) -> Result<Self, TryLockError> {
        let lock = of.lock();
        match lock.semaphore.try_acquire_many(lock.permits.all()) {
            Ok(permits) => permits.forget(),
            Err(_) => return Err(would_block()),
        }
        Ok(Self::taken(of, place))
    }

    /// Only after all permits of this lock have been taken.
    #[inline(always)]
    fn taken(of: R, place: &'static Location<'static>) -> Self {
        of.lock().holder.take(place);
        Exclusive { value: of.locked().value.get(), held: Held(of) }
    }
}

/// Also if this is access to a part, what becomes of it is access to all of the value: a part of a value that is shared may be one that
/// only exclusive access to the value reaches.
impl<M, R> Exclusive<R, M::Value>
where
    M: HasLock<Permits = Readers> + ?Sized,
    R: Holds<Permits = Readers> + Deref<Target = M>,
{
    /// Shares the value from now on, without freeing the lock in between.
    pub(in super::super) fn downgrade(self) -> Shared<R, M::Value> {
        let value = self.of().locked().value.get();
        Shared::kept(value, self.held.keep_one())
    }

    /// [`downgrade`](Self::downgrade), with access to a part only, which is found before others have access. The lock is freed if `part`
    /// panics.
    pub(in super::super) fn downgrade_map<S: ?Sized>(self, part: impl FnOnce(&M::Value) -> &S) -> Shared<R, S> {
        // SAFETY: the lock is held, and this is the only access.
        let part: *const S = part(unsafe { &*self.of().locked().value.get() });
        Shared::kept(part, self.held.keep_one())
    }

    /// [`downgrade_map`](Self::downgrade_map), if there is such a part.
    pub(in super::super) fn try_downgrade_map<S: ?Sized>(
        self,
        part: impl FnOnce(&M::Value) -> Option<&S>,
    ) -> Result<Shared<R, S>, Self> {
        // SAFETY: the lock is held, and this is the only access.
        match part(unsafe { &*self.of().locked().value.get() }).map(ptr::from_ref) {
            Some(part) => Ok(Shared::kept(part, self.held.keep_one())),
            None => Err(self),
        }
    }
}

impl<R: Holds<Permits = Readers>> Held<R> {
    /// Frees all permits but one. Returns the reference to the lock.
    fn keep_one(self) -> R {
        let held = ManuallyDrop::new(self);
        // SAFETY: nobody uses or drops the reference in `held` any more.
        let of = unsafe { ptr::read(&raw const held.0) };
        let lock = of.lock();
        lock.holder.leave();
        lock.semaphore.add_permits(lock.permits.all() as usize - 1);
        of
    }
}

impl<R: Holds, U: ?Sized> Exclusive<R, U> {
    /// The reference to the lock.
    #[inline(always)]
    pub(in super::super) fn of(&self) -> &R {
        &self.held.0
    }

    /// Access to a part of the value. The lock is freed if `part` panics.
    pub(in super::super) fn map<S: ?Sized>(self, part: impl FnOnce(&mut U) -> &mut S) -> Exclusive<R, S> {
        let Exclusive { value, held } = self;
        // SAFETY: the lock is held, and this was the only access.
        let value = part(unsafe { &mut *value });
        Exclusive { value, held }
    }

    /// Access to a part of the value, if there is one.
    pub(in super::super) fn try_map<S: ?Sized>(
        self,
        part: impl FnOnce(&mut U) -> Option<&mut S>,
    ) -> Result<Exclusive<R, S>, Self> {
        let Exclusive { value, held } = self;
        // SAFETY: the lock is held, and this was the only access.
        match part(unsafe { &mut *value }).map(ptr::from_mut) {
            Some(value) => Ok(Exclusive { value, held }),
            None => Err(Exclusive { value, held }),
        }
    }
}

impl<'a, M: HasLock + ?Sized, U: ?Sized> Exclusive<&'a M, U> {
    /// Forgets the type of the value under the lock.
    pub(in super::super) fn of_any(self) -> Exclusive<&'a Lock<M::Permits>, U> {
        let Exclusive { value, held } = self;
        let lock = &held.0.locked().lock;
        mem::forget(held);
        Exclusive { value, held: Held(lock) }
    }
}

impl<R: Holds, U: ?Sized> Deref for Exclusive<R, U> {
    type Target = U;

    #[inline(always)]
    fn deref(&self) -> &U {
        // SAFETY: the lock is held, and this is the only access.
        unsafe { &*self.value }
    }
}

impl<R: Holds, U: ?Sized> DerefMut for Exclusive<R, U> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut U {
        // SAFETY: the lock is held, and this is the only access.
        unsafe { &mut *self.value }
    }
}
