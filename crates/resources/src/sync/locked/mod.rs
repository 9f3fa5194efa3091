//! Access to a value under a lock, for one or for several at a time: with its folder, the `unsafe` code of this room.

pub(super) mod exclusive;
pub(super) mod shared;

use std::cell::UnsafeCell;
use std::fmt;
use std::sync::Arc;

use tokio::sync::{Semaphore, TryLockError};

use super::holder::HolderCell;
use dyntrace_processes::waiting::{Operation, Resource};

/// How many permits a lock has. Exclusive access takes all of them, shared access takes one.
pub(super) trait Permits: fmt::Debug {
    /// The wait for exclusive access.
    const EXCLUSIVE: Operation;

    /// Returns the number of permits: always the same, at least 1.
    fn all(&self) -> u32;
}

/// One permit: a lock with exclusive access only.
#[derive(Debug)]
pub(super) struct One;

impl Permits for One {
    const EXCLUSIVE: Operation = Operation::Lock;

    #[inline(always)]
    fn all(&self) -> u32 {
        1
    }
}

/// As many permits as there can be readers at once.
#[derive(Debug)]
pub(super) struct Readers(u32);

impl Readers {
    /// # Panics
    ///
    /// Panics with 0.
    pub(super) const fn at_most(readers: u32) -> Readers {
        assert!(readers != 0, "a lock without permits is never taken");
        Readers(readers)
    }
}

impl Permits for Readers {
    const EXCLUSIVE: Operation = Operation::Write;

    #[inline(always)]
    fn all(&self) -> u32 {
        self.0
    }
}

/// A lock, without its value.
#[derive(Debug)]
pub(super) struct Lock<P> {
    semaphore: Semaphore,
    permits: P,
    resource: Resource,
    holder: HolderCell,
}

/// A value and its lock. Only this file and its folder take the lock's permits.
pub(super) struct Locked<P, T: ?Sized> {
    lock: Lock<P>,
    value: UnsafeCell<T>,
}

// SAFETY: threads that share it reach the value only by an `Exclusive`, as `Shared` needs `Readers`. There is one of those at a time. So
// the value goes from thread to thread, which `Send` allows, and is never used by two.
unsafe impl<T: ?Sized + Send> Sync for Locked<One, T> {}
// SAFETY: likewise, or by several `Shared`s at a time: then threads share the value, which `Sync` allows.
unsafe impl<T: ?Sized + Send + Sync> Sync for Locked<Readers, T> {}

impl<T> Locked<One, T> {
    pub(super) const fn one(resource: Resource, value: T) -> Self {
        let lock = Lock { semaphore: Semaphore::const_new(1), permits: One, resource, holder: HolderCell::new() };
        Locked { lock, value: UnsafeCell::new(value) }
    }
}

impl<T> Locked<Readers, T> {
    pub(super) const fn readers(permits: Readers, resource: Resource, value: T) -> Self {
        let semaphore = Semaphore::const_new(permits.0 as usize);
        let lock = Lock { semaphore, permits, resource, holder: HolderCell::new() };
        Locked { lock, value: UnsafeCell::new(value) }
    }
}

impl<P, T: ?Sized> Locked<P, T> {
    /// The holder of exclusive access.
    pub(super) fn holder(&self) -> &HolderCell {
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
    type Permits: Permits;
    /// The type of the value under the lock.
    type Value: ?Sized;

    fn locked(&self) -> &Locked<Self::Permits, Self::Value>;
}

/// A reference to a lock.
///
/// # Safety
///
/// `lock` always returns the same one, also after the reference has moved, and it lives as long as the reference.
pub(super) unsafe trait Holds {
    type Permits: Permits;

    fn lock(&self) -> &Lock<Self::Permits>;
}

// SAFETY: a reference always leads to the same lock.
unsafe impl<P: Permits> Holds for &Lock<P> {
    type Permits = P;

    #[inline(always)]
    fn lock(&self) -> &Lock<P> {
        self
    }
}

// SAFETY: a reference always leads to the same value, and by `HasLock` to the same lock.
unsafe impl<M: HasLock + ?Sized> Holds for &M {
    type Permits = M::Permits;

    #[inline(always)]
    fn lock(&self) -> &Lock<M::Permits> {
        &self.locked().lock
    }
}

// SAFETY: an `Arc` always leads to the same value and keeps it in its place, and by `HasLock` to the same lock.
unsafe impl<M: HasLock + ?Sized> Holds for Arc<M> {
    type Permits = M::Permits;

    #[inline(always)]
    fn lock(&self) -> &Lock<M::Permits> {
        &self.locked().lock
    }
}

/// tokio's error, which only tokio can make.
#[cold]
fn would_block() -> TryLockError {
    let held = tokio::sync::Mutex::const_new(());
    let _guard = held.try_lock();
    match held.try_lock() {
        Err(error) => error,
        Ok(_) => unreachable!("the lock is held"),
    }
}
