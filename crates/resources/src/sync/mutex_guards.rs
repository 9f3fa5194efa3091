//! Guards of the mutex.

use std::marker::PhantomData;
use std::sync::Arc;

use super::guard::exclusive;
use super::locked::exclusive::Exclusive;
use super::locked::{Lock, One};
use super::mutex::Mutex;

/// Access to the value of a [`Mutex`]. The lock is freed when this is dropped.
#[must_use = "the lock is released when the guard is dropped"]
#[clippy::has_significant_drop]
pub struct MutexGuard<'a, T: ?Sized>(pub(super) Exclusive<&'a Mutex<T>, T>);

/// Access to the value of a [`Mutex`], with the `Arc` that holds it. The lock is freed when this is dropped.
#[clippy::has_significant_drop]
pub struct OwnedMutexGuard<T: ?Sized>(pub(super) Exclusive<Arc<Mutex<T>>, T>);

/// Access to a part of the value of a [`Mutex`], made by [`MutexGuard::map`].
#[must_use = "the lock is released when the guard is dropped"]
#[clippy::has_significant_drop]
pub struct MappedMutexGuard<'a, T: ?Sized>(Exclusive<&'a Lock<One>, T>, PhantomData<&'a mut T>);

/// Access to a part of the value of a [`Mutex`], made by [`OwnedMutexGuard::map`].
#[must_use = "the lock is released when the guard is dropped"]
#[clippy::has_significant_drop]
pub struct OwnedMappedMutexGuard<T: ?Sized, U: ?Sized = T>(Exclusive<Arc<Mutex<T>>, U>);

impl<'a, T: ?Sized> MutexGuard<'a, T> {
    /// Makes a guard of a part of the value.
    pub fn map<U: ?Sized, F: FnOnce(&mut T) -> &mut U>(this: Self, f: F) -> MappedMutexGuard<'a, U> {
        MappedMutexGuard(this.0.map(f).of_any(), PhantomData)
    }

    /// Makes a guard of a part of the value, or returns the guard if there is no such part.
    pub fn try_map<U: ?Sized, F>(this: Self, f: F) -> Result<MappedMutexGuard<'a, U>, Self>
    where
        F: FnOnce(&mut T) -> Option<&mut U>,
    {
        match this.0.try_map(f) {
            Ok(part) => Ok(MappedMutexGuard(part.of_any(), PhantomData)),
            Err(all) => Err(MutexGuard(all)),
        }
    }

    /// Returns the mutex.
    pub fn mutex(this: &Self) -> &'a Mutex<T> {
        this.0.of()
    }
}

impl<T: ?Sized> OwnedMutexGuard<T> {
    /// Makes a guard of a part of the value.
    pub fn map<U: ?Sized, F: FnOnce(&mut T) -> &mut U>(this: Self, f: F) -> OwnedMappedMutexGuard<T, U> {
        OwnedMappedMutexGuard(this.0.map(f))
    }

    /// Makes a guard of a part of the value, or returns the guard if there is no such part.
    pub fn try_map<U: ?Sized, F>(this: Self, f: F) -> Result<OwnedMappedMutexGuard<T, U>, Self>
    where
        F: FnOnce(&mut T) -> Option<&mut U>,
    {
        this.0.try_map(f).map(OwnedMappedMutexGuard).map_err(OwnedMutexGuard)
    }

    /// Returns the mutex.
    pub fn mutex(this: &Self) -> &Arc<Mutex<T>> {
        this.0.of()
    }
}

impl<'a, T: ?Sized> MappedMutexGuard<'a, T> {
    /// Makes a guard of a part of the part.
    pub fn map<U: ?Sized, F: FnOnce(&mut T) -> &mut U>(this: Self, f: F) -> MappedMutexGuard<'a, U> {
        MappedMutexGuard(this.0.map(f), PhantomData)
    }

    /// Makes a guard of a part of the part, or returns the guard if there is no such part.
    pub fn try_map<U: ?Sized, F>(this: Self, f: F) -> Result<MappedMutexGuard<'a, U>, Self>
    where
        F: FnOnce(&mut T) -> Option<&mut U>,
    {
        match this.0.try_map(f) {
            Ok(part) => Ok(MappedMutexGuard(part, PhantomData)),
            Err(all) => Err(MappedMutexGuard(all, PhantomData)),
        }
    }
}

impl<T: ?Sized, U: ?Sized> OwnedMappedMutexGuard<T, U> {
    /// Makes a guard of a part of the part.
    pub fn map<S: ?Sized, F: FnOnce(&mut U) -> &mut S>(this: Self, f: F) -> OwnedMappedMutexGuard<T, S> {
        OwnedMappedMutexGuard(this.0.map(f))
    }

    /// Makes a guard of a part of the part, or returns the guard if there is no such part.
    pub fn try_map<S: ?Sized, F>(this: Self, f: F) -> Result<OwnedMappedMutexGuard<T, S>, Self>
    where
        F: FnOnce(&mut U) -> Option<&mut S>,
    {
        this.0.try_map(f).map(OwnedMappedMutexGuard).map_err(OwnedMappedMutexGuard)
    }
}

exclusive! {
    [T: ?Sized] MutexGuard<'_, T> => T;
    [T: ?Sized] OwnedMutexGuard<T> => T;
    [T: ?Sized] MappedMutexGuard<'_, T> => T;
    [T: ?Sized, U: ?Sized] OwnedMappedMutexGuard<T, U> => U;
}
