//! Guards of the lock for readers and writers.

use std::marker::PhantomData;
use std::sync::Arc;

use super::guard::{exclusive, shared};
use super::locked::exclusive::Exclusive;
use super::locked::shared::Shared;
use super::locked::{Lock, Readers};
use super::rwlock::RwLock;

/// Access to the value of an [`RwLock`], or to a part of it, for reading. Given up when this is dropped.
#[must_use = "the lock is released when the guard is dropped"]
#[clippy::has_significant_drop]
pub struct RwLockReadGuard<'a, T: ?Sized>(Shared<&'a Lock<Readers>, T>, PhantomData<&'a T>);

/// Access to the value of an [`RwLock`], or to a part of it, for reading, with the `Arc` that holds it. Given up when this is dropped.
#[clippy::has_significant_drop]
pub struct OwnedRwLockReadGuard<T: ?Sized, U: ?Sized = T>(pub(super) Shared<Arc<RwLock<T>>, U>);

/// Access to the value of an [`RwLock`]. The lock is freed when this is dropped.
///
/// Moves to other threads if they may also share the value, as it can become a guard for reading there:
///
/// ```
/// fn moves<T: Send>() {}
/// moves::<dyntrace::sync::RwLockWriteGuard<'_, u32>>();
/// ```
///
/// ```compile_fail,E0277
/// fn moves<T: Send>() {}
/// moves::<dyntrace::sync::RwLockWriteGuard<'_, std::cell::Cell<u32>>>();
/// ```
#[must_use = "the lock is released when the guard is dropped"]
#[clippy::has_significant_drop]
pub struct RwLockWriteGuard<'a, T: ?Sized>(pub(super) Exclusive<&'a RwLock<T>, T>);

/// Access to the value of an [`RwLock`], with the `Arc` that holds it. The lock is freed when this is dropped.
#[clippy::has_significant_drop]
pub struct OwnedRwLockWriteGuard<T: ?Sized>(pub(super) Exclusive<Arc<RwLock<T>>, T>);

/// Access to a part of the value of an [`RwLock`], made by [`RwLockWriteGuard::map`].
#[clippy::has_significant_drop]
pub struct RwLockMappedWriteGuard<'a, T: ?Sized>(Exclusive<&'a Lock<Readers>, T>, PhantomData<&'a mut T>);

/// Access to a part of the value of an [`RwLock`], made by [`OwnedRwLockWriteGuard::map`].
#[clippy::has_significant_drop]
pub struct OwnedRwLockMappedWriteGuard<T: ?Sized, U: ?Sized = T>(Exclusive<Arc<RwLock<T>>, U>);

impl<'a, T: ?Sized> RwLockReadGuard<'a, T> {
    pub(super) fn of<M: ?Sized>(part: Shared<&'a RwLock<M>, T>) -> Self {
        RwLockReadGuard(part.of_any(), PhantomData)
    }

    /// Makes a guard of a part of the value.
    pub fn map<F: FnOnce(&T) -> &U, U: ?Sized>(this: Self, f: F) -> RwLockReadGuard<'a, U> {
        RwLockReadGuard(this.0.map(f), PhantomData)
    }

    /// Makes a guard of a part of the value, or returns the guard if there is no such part.
    pub fn try_map<F: FnOnce(&T) -> Option<&U>, U: ?Sized>(this: Self, f: F) -> Result<RwLockReadGuard<'a, U>, Self> {
        match this.0.try_map(f) {
            Ok(part) => Ok(RwLockReadGuard(part, PhantomData)),
            Err(all) => Err(RwLockReadGuard(all, PhantomData)),
        }
    }
}

impl<T: ?Sized, U: ?Sized> OwnedRwLockReadGuard<T, U> {
    /// Makes a guard of a part of the value.
    pub fn map<F: FnOnce(&U) -> &V, V: ?Sized>(this: Self, f: F) -> OwnedRwLockReadGuard<T, V> {
        OwnedRwLockReadGuard(this.0.map(f))
    }

    /// Makes a guard of a part of the value, or returns the guard if there is no such part.
    pub fn try_map<F, V: ?Sized>(this: Self, f: F) -> Result<OwnedRwLockReadGuard<T, V>, Self>
    where
        F: FnOnce(&U) -> Option<&V>,
    {
        this.0.try_map(f).map(OwnedRwLockReadGuard).map_err(OwnedRwLockReadGuard)
    }

    /// Returns the lock.
    pub fn rwlock(this: &Self) -> &Arc<RwLock<T>> {
        this.0.of()
    }
}

impl<'a, T: ?Sized> RwLockWriteGuard<'a, T> {
    /// Makes a guard of a part of the value.
    pub fn map<F: FnOnce(&mut T) -> &mut U, U: ?Sized>(this: Self, f: F) -> RwLockMappedWriteGuard<'a, U> {
        RwLockMappedWriteGuard(this.0.map(f).of_any(), PhantomData)
    }

    /// Makes a guard of a part of the value for reading. No other writer takes the lock in between.
    pub fn downgrade_map<F: FnOnce(&T) -> &U, U: ?Sized>(this: Self, f: F) -> RwLockReadGuard<'a, U> {
        RwLockReadGuard::of(this.0.downgrade_map(f))
    }

    /// Makes a guard of a part of the value, or returns the guard if there is no such part.
    pub fn try_map<F, U: ?Sized>(this: Self, f: F) -> Result<RwLockMappedWriteGuard<'a, U>, Self>
    where
        F: FnOnce(&mut T) -> Option<&mut U>,
    {
        match this.0.try_map(f) {
            Ok(part) => Ok(RwLockMappedWriteGuard(part.of_any(), PhantomData)),
            Err(all) => Err(RwLockWriteGuard(all)),
        }
    }

    /// [`downgrade_map`](RwLockWriteGuard::downgrade_map), or returns the guard if there is no such part.
    pub fn try_downgrade_map<F, U: ?Sized>(this: Self, f: F) -> Result<RwLockReadGuard<'a, U>, Self>
    where
        F: FnOnce(&T) -> Option<&U>,
    {
        match this.0.try_downgrade_map(f) {
            Ok(part) => Ok(RwLockReadGuard::of(part)),
            Err(all) => Err(RwLockWriteGuard(all)),
        }
    }

    /// Makes a guard of the type that guards of parts have, with access to all of the value.
    pub fn into_mapped(this: Self) -> RwLockMappedWriteGuard<'a, T> {
        RwLockMappedWriteGuard(this.0.of_any(), PhantomData)
    }

    /// Makes a guard for reading. No other writer takes the lock in between.
    pub fn downgrade(self) -> RwLockReadGuard<'a, T> {
        RwLockReadGuard::of(self.0.downgrade())
    }
}

impl<T: ?Sized> OwnedRwLockWriteGuard<T> {
    /// Makes a guard of a part of the value.
    pub fn map<F: FnOnce(&mut T) -> &mut U, U: ?Sized>(this: Self, f: F) -> OwnedRwLockMappedWriteGuard<T, U> {
        OwnedRwLockMappedWriteGuard(this.0.map(f))
    }

    /// Makes a guard of a part of the value for reading. No other writer takes the lock in between.
    pub fn downgrade_map<F: FnOnce(&T) -> &U, U: ?Sized>(this: Self, f: F) -> OwnedRwLockReadGuard<T, U> {
        OwnedRwLockReadGuard(this.0.downgrade_map(f))
    }

    /// Makes a guard of a part of the value, or returns the guard if there is no such part.
    pub fn try_map<F, U: ?Sized>(this: Self, f: F) -> Result<OwnedRwLockMappedWriteGuard<T, U>, Self>
    where
        F: FnOnce(&mut T) -> Option<&mut U>,
    {
        this.0.try_map(f).map(OwnedRwLockMappedWriteGuard).map_err(OwnedRwLockWriteGuard)
    }

    /// [`downgrade_map`](OwnedRwLockWriteGuard::downgrade_map), or returns the guard if there is no such part.
    pub fn try_downgrade_map<F, U: ?Sized>(this: Self, f: F) -> Result<OwnedRwLockReadGuard<T, U>, Self>
    where
        F: FnOnce(&T) -> Option<&U>,
    {
        this.0.try_downgrade_map(f).map(OwnedRwLockReadGuard).map_err(OwnedRwLockWriteGuard)
    }

    /// Makes a guard of the type that guards of parts have, with access to all of the value.
    pub fn into_mapped(this: Self) -> OwnedRwLockMappedWriteGuard<T> {
        OwnedRwLockMappedWriteGuard(this.0)
    }

    /// Makes a guard for reading. No other writer takes the lock in between.
    pub fn downgrade(self) -> OwnedRwLockReadGuard<T> {
        OwnedRwLockReadGuard(self.0.downgrade())
    }

    /// Returns the lock.
    pub fn rwlock(this: &Self) -> &Arc<RwLock<T>> {
        this.0.of()
    }
}

impl<'a, T: ?Sized> RwLockMappedWriteGuard<'a, T> {
    /// Makes a guard of a part of the part.
    pub fn map<F: FnOnce(&mut T) -> &mut U, U: ?Sized>(this: Self, f: F) -> RwLockMappedWriteGuard<'a, U> {
        RwLockMappedWriteGuard(this.0.map(f), PhantomData)
    }

    /// Makes a guard of a part of the part, or returns the guard if there is no such part.
    pub fn try_map<F, U: ?Sized>(this: Self, f: F) -> Result<RwLockMappedWriteGuard<'a, U>, Self>
    where
        F: FnOnce(&mut T) -> Option<&mut U>,
    {
        match this.0.try_map(f) {
            Ok(part) => Ok(RwLockMappedWriteGuard(part, PhantomData)),
            Err(all) => Err(RwLockMappedWriteGuard(all, PhantomData)),
        }
    }
}

impl<T: ?Sized, U: ?Sized> OwnedRwLockMappedWriteGuard<T, U> {
    /// Makes a guard of a part of the part.
    pub fn map<F: FnOnce(&mut U) -> &mut V, V: ?Sized>(this: Self, f: F) -> OwnedRwLockMappedWriteGuard<T, V> {
        OwnedRwLockMappedWriteGuard(this.0.map(f))
    }

    /// Makes a guard of a part of the part, or returns the guard if there is no such part.
    pub fn try_map<F, V: ?Sized>(this: Self, f: F) -> Result<OwnedRwLockMappedWriteGuard<T, V>, Self>
    where
        F: FnOnce(&mut U) -> Option<&mut V>,
    {
        this.0.try_map(f).map(OwnedRwLockMappedWriteGuard).map_err(OwnedRwLockMappedWriteGuard)
    }

    /// Returns the lock.
    pub fn rwlock(this: &Self) -> &Arc<RwLock<T>> {
        this.0.of()
    }
}

shared! {
    [T: ?Sized] RwLockReadGuard<'_, T> => T;
    [T: ?Sized, U: ?Sized] OwnedRwLockReadGuard<T, U> => U;
}

exclusive! {
    [T: ?Sized] RwLockWriteGuard<'_, T> => T;
    [T: ?Sized] OwnedRwLockWriteGuard<T> => T;
    [T: ?Sized] RwLockMappedWriteGuard<'_, T> => T;
    [T: ?Sized, U: ?Sized] OwnedRwLockMappedWriteGuard<T, U> => U;
}
