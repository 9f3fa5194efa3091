//! Futures and locks of dyntrace: the pid of a process; the guards of a lock, its semaphore, and the holder that it notes.

use super::value::{Value, Values};
use crate::census::place_at;
use crate::dwarf::Shape;
use crate::listing::{Holder, SemaphoreOf};

/// Where the guards are.
const GUARDS: [&str; 2] = ["dyntrace::sync::mutex_guards::", "dyntrace::sync::rwlock_guards::"];

/// Where the functions are that wait for a lock, by a reference to it in the variable [`REFERENCE`].
pub(crate) const WAITING: &str = "dyntrace::sync::locked::";

/// The reference to the lock.
pub(crate) const REFERENCE: &str = "of";

/// Whether a type with this path, without parameters, is a guard.
pub(super) fn is_guard(bare: &str) -> bool {
    bare.ends_with("Guard") && GUARDS.iter().any(|module| bare.starts_with(module))
}

/// The number in the pid of a future that `dyntrace::spawn` or `process::child` has made a process.
pub(super) fn process(values: &Values<'_, '_>, future: &Value) -> Option<u64> {
    let steps: &[&str] = match future.kind.bare() {
        "dyntrace::process::OwnProcess" => &["life", "pid", "__0"],
        "dyntrace::process::child::Child" => &["process", "life", "pid", "__0"],
        _ => return None,
    };
    values.number(&values.follow(future, steps)?)
}

/// A lock, and its kind if the reference says it.
pub(crate) struct Lock {
    value: Value,
    pub of: SemaphoreOf,
}

impl Lock {
    /// The lock to which a guard belongs.
    pub(super) fn of_guard(values: &Values<'_, '_>, guard: &Value) -> Option<Lock> {
        Lock::behind(values, &values.follow(guard, &["__0", "held", "__0"])?)
    }

    /// The lock to which a reference, or an `Arc`, leads: to a mutex, to a read-write lock, or to their common part.
    pub(crate) fn behind(values: &Values<'_, '_>, reference: &Value) -> Option<Lock> {
        let target = match reference.kind.shape {
            Shape::Pointer(_) => values.target(reference)?,
            _ => values.follow(reference, &["arc"])?,
        };
        let of = match target.kind.bare() {
            "dyntrace::sync::mutex::Mutex" => SemaphoreOf::Mutex,
            "dyntrace::sync::rwlock::RwLock" => SemaphoreOf::RwLock,
            _ => SemaphoreOf::Unknown,
        };
        let value = values.follow(&target, &["locked", "lock"]).unwrap_or(target);
        Some(Lock { value, of })
    }

    /// The address of its semaphore.
    pub(crate) fn semaphore(&self, values: &Values<'_, '_>) -> Option<u64> {
        values.follow(&self.value, &["semaphore", "ll_sem"]).map(|semaphore| semaphore.address)
    }

    /// The process that has exclusive access. `None` if the lock is free, is shared, or changes hands.
    pub(crate) fn holder(&self, live: &Values<'_, '_>) -> Option<Holder> {
        let number = |field| {
            let value = live.follow(&self.value, &["holder", field, "only"])?;
            live.number(&value)
        };
        let pid = number("pid").filter(|pid| *pid != 0)?;
        let (place, since) = (number("place")?, number("since")?);
        // The same pid again: the rest is of this process, too.
        let place = place_at(live.memory, place);
        (number("pid") == Some(pid)).then_some(Holder { pid, place, since })
    }
}
