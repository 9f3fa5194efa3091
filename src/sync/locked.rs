//! Exclusive access to a value under a lock of one permit: the `unsafe` code of this room.

use std::cell::UnsafeCell;
use std::mem;
use std::ops::{Deref, DerefMut};
use std::panic::Location;
use std::ptr;
use std::sync::Arc;

use tokio::sync::Semaphore;

use super::acquire::acquire;
use super::holder::Seat;
use crate::waiting::{Operation, Resource};

/// A lock, without its value.
#[derive(Debug)]
pub(super) struct Lock {
    semaphore: Semaphore,
    resource: Resource,
    holder: Seat,
}

/// A value and its lock, whose semaphore has one permit. Only this file takes the permit.
pub(super) struct Locked<T: ?Sized> {
    lock: Lock,
    value: UnsafeCell<T>,
}

// SAFETY: threads that share it reach the value only by a `Held`, of which there is one at a time. So the value goes from thread to
// thread, which `Send` allows, and is never used by two.
unsafe impl<T: ?Sized + Send> Sync for Locked<T> {}

impl<T: ?Sized> Locked<T> {
    pub(super) const fn new(resource: Resource, value: T) -> Locked<T>
    where
        T: Sized,
    {
        let lock = Lock { semaphore: Semaphore::const_new(1), resource, holder: Seat::new() };
        Locked { lock, value: UnsafeCell::new(value) }
    }

    pub(super) fn holder(&self) -> &Seat {
        &self.lock.holder
    }

    pub(super) fn get_mut(&mut self) -> &mut T {
        self.value.get_mut()
    }

    pub(super) fn into_inner(self) -> T
    where
        T: Sized,
    {
        self.value.into_inner()
    }
}

/// A type that has a [`Locked`].
///
/// # Safety
///
/// `locked` always returns the same one, which lives and stays in its place as long as the value does.
pub(super) unsafe trait HasLock {
    /// The type of the value under the lock.
    type Value: ?Sized;

    fn locked(&self) -> &Locked<Self::Value>;
}

/// A reference to a lock.
///
/// # Safety
///
/// `lock` always returns the same one, also after the reference has moved, and it lives as long as the reference.
pub(super) unsafe trait Holds {
    fn lock(&self) -> &Lock;
}

// SAFETY: a reference always leads to the same lock.
unsafe impl Holds for &Lock {
    #[inline(always)]
    fn lock(&self) -> &Lock {
        self
    }
}

// SAFETY: a reference always leads to the same value, and by `HasLock` to the same lock.
unsafe impl<M: HasLock + ?Sized> Holds for &M {
    #[inline(always)]
    fn lock(&self) -> &Lock {
        &self.locked().lock
    }
}

// SAFETY: an `Arc` always leads to the same value and keeps it in its place, and by `HasLock` to the same lock.
unsafe impl<M: HasLock + ?Sized> Holds for Arc<M> {
    #[inline(always)]
    fn lock(&self) -> &Lock {
        &self.locked().lock
    }
}

/// A lock that is held. Freed when this is dropped.
struct Held<R: Holds>(R);

impl<R: Holds> Drop for Held<R> {
    #[inline(always)]
    fn drop(&mut self) {
        let lock = self.0.lock();
        lock.holder.leave();
        lock.semaphore.add_permits(1);
    }
}

/// Exclusive access to a value of type `U`, or to a part of one, while the lock of `R` is held.
pub(super) struct Exclusive<R: Holds, U: ?Sized> {
    /// Valid while the lock is held.
    value: *mut U,
    held: Held<R>,
}

// SAFETY: it is the only access to the value. So sending it sends a `&mut U` and the reference to the lock.
unsafe impl<R: Holds + Send, U: ?Sized + Send> Send for Exclusive<R, U> {}
// SAFETY: sharing it shares a `&U` and the reference to the lock.
unsafe impl<R: Holds + Sync, U: ?Sized + Sync> Sync for Exclusive<R, U> {}

impl<M: HasLock + ?Sized, R: Holds + Deref<Target = M>> Exclusive<R, M::Value> {
    /// Waits until the lock is free, and takes it.
    #[inline(always)]
    pub(super) async fn lock(of: R, place: &'static Location<'static>) -> Self {
        let lock = of.lock();
        let permit = acquire(&lock.semaphore, 1, &lock.resource, Operation::Lock, place).await;
        let permit = permit.unwrap_or_else(|_| unreachable!("nobody closes a lock's semaphore"));
        permit.forget();
        Self::taken(of, place)
    }

    /// Takes the lock if it is free.
    pub(super) fn try_lock(of: R, place: &'static Location<'static>) -> Option<Self> {
        of.lock().semaphore.try_acquire().ok()?.forget();
        Some(Self::taken(of, place))
    }

    /// Only after the permit of this lock has been taken.
    #[inline(always)]
    fn taken(of: R, place: &'static Location<'static>) -> Self {
        of.lock().holder.take(place);
        Exclusive { value: of.locked().value.get(), held: Held(of) }
    }
}

impl<R: Holds, U: ?Sized> Exclusive<R, U> {
    /// The reference to the lock.
    #[inline(always)]
    pub(super) fn of(&self) -> &R {
        &self.held.0
    }

    /// Access to a part of the value. The lock is freed if `part` panics.
    pub(super) fn map<S: ?Sized>(self, part: impl FnOnce(&mut U) -> &mut S) -> Exclusive<R, S> {
        let Exclusive { value, held } = self;
        // SAFETY: the lock is held, and this was the only access.
        let value = part(unsafe { &mut *value });
        Exclusive { value, held }
    }

    /// Access to a part of the value, if there is one.
    pub(super) fn try_map<S: ?Sized>(
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
    pub(super) fn of_any(self) -> Exclusive<&'a Lock, U> {
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
