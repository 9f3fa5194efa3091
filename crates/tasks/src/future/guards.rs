//! Lock guards and permits: their types, and the semaphores that they point to.

use super::own::Lock;
use super::value::Value;
use super::walk::Walk;
use crate::dwarf::Type;
use crate::listing::SourceLine;

/// Guards by path without parameters; the steps to the semaphore; the field that counts permits, if the guard may have none.
#[rustfmt::skip]
const GUARDS: &[(&str, &[&str], Option<&str>)] = &[
    ("dyntrace_resources::sync::mutex_guards::MutexGuard", &["__0", "held", "__0", "*", "locked", "lock", "semaphore", "ll_sem"], None),
    ("dyntrace_resources::sync::mutex_guards::OwnedMutexGuard", &["__0", "held", "__0", "arc", "locked", "lock", "semaphore", "ll_sem"], None),
    ("dyntrace_resources::sync::mutex_guards::MappedMutexGuard", &["__0", "held", "__0", "*", "semaphore", "ll_sem"], None),
    ("dyntrace_resources::sync::mutex_guards::OwnedMappedMutexGuard", &["__0", "held", "__0", "arc", "locked", "lock", "semaphore", "ll_sem"], None),
    ("dyntrace_resources::sync::rwlock_guards::RwLockReadGuard", &["__0", "held", "__0", "*", "semaphore", "ll_sem"], None),
    ("dyntrace_resources::sync::rwlock_guards::RwLockWriteGuard", &["__0", "held", "__0", "*", "locked", "lock", "semaphore", "ll_sem"], None),
    ("dyntrace_resources::sync::rwlock_guards::RwLockMappedWriteGuard", &["__0", "held", "__0", "*", "semaphore", "ll_sem"], None),
    ("dyntrace_resources::sync::rwlock_guards::OwnedRwLockReadGuard", &["__0", "held", "__0", "arc", "locked", "lock", "semaphore", "ll_sem"], None),
    ("dyntrace_resources::sync::rwlock_guards::OwnedRwLockWriteGuard", &["__0", "held", "__0", "arc", "locked", "lock", "semaphore", "ll_sem"], None),
    ("dyntrace_resources::sync::rwlock_guards::OwnedRwLockMappedWriteGuard", &["__0", "held", "__0", "arc", "locked", "lock", "semaphore", "ll_sem"], None),
    ("dyntrace_resources::sync::semaphore::SemaphorePermit", &["sem", "*", "inner", "ll_sem"], Some("permits")),
    ("dyntrace_resources::sync::semaphore::OwnedSemaphorePermit", &["sem", "arc", "inner", "ll_sem"], Some("permits")),
    ("tokio::sync::mutex::MutexGuard", &["lock", "*", "s"], None),
    ("tokio::sync::mutex::OwnedMutexGuard", &["lock", "arc", "s"], None),
    ("tokio::sync::mutex::MappedMutexGuard", &["s", "*"], None),
    ("tokio::sync::mutex::OwnedMappedMutexGuard", &["lock", "arc", "s"], None),
    ("tokio::sync::rwlock::read_guard::RwLockReadGuard", &["s", "*"], None),
    ("tokio::sync::rwlock::write_guard::RwLockWriteGuard", &["s", "*"], None),
    ("tokio::sync::rwlock::write_guard_mapped::RwLockMappedWriteGuard", &["s", "*"], None),
    ("tokio::sync::rwlock::owned_read_guard::OwnedRwLockReadGuard", &["lock", "arc", "s"], None),
    ("tokio::sync::rwlock::owned_write_guard::OwnedRwLockWriteGuard", &["lock", "arc", "s"], None),
    ("tokio::sync::rwlock::owned_write_guard_mapped::OwnedRwLockMappedWriteGuard", &["lock", "arc", "s"], None),
    ("tokio::sync::semaphore::SemaphorePermit", &["sem", "*", "ll_sem"], Some("permits")),
    ("tokio::sync::semaphore::OwnedSemaphorePermit", &["sem", "arc", "ll_sem"], Some("permits")),
    ("tokio::sync::mpsc::bounded::Permit", &["chan", "*", "inner", "arc", "semaphore", "semaphore"], None),
    ("tokio::sync::mpsc::bounded::OwnedPermit", &["chan", "?", "inner", "arc", "semaphore", "semaphore"], None),
];

/// A future of tokio's that waits for permits; it has them before it is polled again.
const ACQUIRE: &str = "tokio::sync::batch_semaphore::Acquire";

/// Whether a type is a guard, or a future that may have permits.
pub(super) fn is_guard(kind: &Type) -> bool {
    let bare = kind.bare();
    bare == ACQUIRE || GUARDS.iter().any(|(path, ..)| *path == bare)
}

/// The permits of a guard.
pub(super) struct Held {
    /// The semaphore's address.
    pub semaphore: u64,
    /// Whether a future has them, and has not been polled since.
    pub granted: bool,
    /// The line that took them, of locks that keep it.
    pub taken: Option<SourceLine>,
}

impl Walk<'_, '_> {
    /// Returns the permits of a guard. `None` if it has none.
    pub(super) fn permits(&self, guard: &Value) -> Option<Held> {
        let values = &self.steady;
        let number = |steps: &[&str]| values.follow(guard, steps).and_then(|value| values.number(&value));
        let bare = guard.kind.bare();
        if bare == ACQUIRE {
            // it was queued, it misses no permits any more, and it has not been told
            let granted = number(&["queued"])? == 1 && number(&["node", "state", "only"])? == 0;
            return granted.then_some(Held { semaphore: number(&["semaphore"])?, granted, taken: None });
        }
        let (_, steps, count) = GUARDS.iter().find(|(path, ..)| *path == bare)?;
        if count.is_some_and(|count| number(&[count]).is_none_or(|permits| permits == 0)) {
            return None;
        }
        Some(Held { semaphore: values.follow(guard, steps)?.address, granted: false, taken: self.taken(guard, steps) })
    }

    /// Returns the line that took a lock of dyntrace for exclusive access, which it keeps beside its semaphore.
    fn taken(&self, guard: &Value, steps: &[&str]) -> Option<SourceLine> {
        // other tasks read and write it, but for the place while the lock is held
        Lock::of_guard(&self.live, guard, steps)?.holder(&self.live)?.place
    }
}
