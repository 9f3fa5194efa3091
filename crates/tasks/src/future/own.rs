//! Futures and locks of dyntrace: the pid of a process; the semaphore of a lock, and the holder that it notes.

use std::num::NonZeroU64;

use super::value::{Value, Values};
use crate::census::place_at;
use crate::dwarf::{Shape, Type};
use crate::listing::Holder;

/// Where the functions are that wait for a lock, by a reference to it in the variable [`REFERENCE`].
pub(crate) const WAITING: &str = "dyntrace_resources::sync::locked::";

/// The reference to the lock.
pub(crate) const REFERENCE: &str = "of";

/// Where a lock has its semaphore.
const SEMAPHORE: [&str; 2] = ["semaphore", "ll_sem"];

/// The number in the pid of a future that `dyntrace::spawn` or `process::child` has made a process.
pub(super) fn process(values: &Values<'_, '_>, future: &Value) -> Option<NonZeroU64> {
    let steps: &[&str] = match future.kind.bare() {
        "dyntrace_processes::process::OwnProcess" => &["life", "pid", "__0"],
        "dyntrace_processes::process::child::Child" => &["process", "life", "pid", "__0"],
        _ => return None,
    };
    values.number(&values.follow(future, steps)?).and_then(NonZeroU64::new)
}

/// Whether a future is one that `dyntrace::spawn` or `process::child` has made a process.
pub(crate) fn is_process(kind: &Type) -> bool {
    matches!(kind.bare(), "dyntrace_processes::process::OwnProcess" | "dyntrace_processes::process::child::Child")
}

/// The data of the waker with which such a process polls its future, if it had one at its last poll: it passes wakes on to the task.
pub(crate) fn waker(values: &Values<'_, '_>, future: &Value) -> Option<u64> {
    let told = ["told", "?", "*", "waker", "waker", "data"];
    let told = match future.kind.bare() {
        "dyntrace_processes::process::OwnProcess" => values.follow(future, &told),
        "dyntrace_processes::process::child::Child" => values.follow(&values.field(future, "process")?, &told),
        _ => None,
    };
    values.number(&told?)
}

/// A lock.
pub(crate) struct Lock {
    value: Value,
}

impl Lock {
    /// The lock of a guard, by the steps to the semaphore. `None` if it is no lock of `dyntrace::sync`.
    pub(super) fn of_guard(values: &Values<'_, '_>, guard: &Value, steps: &[&str]) -> Option<Lock> {
        let value = values.follow(guard, steps.strip_suffix(&SEMAPHORE)?)?;
        Some(Lock { value })
    }

    /// The lock to which a reference, or an `Arc`, leads: to a mutex, to a read-write lock, or to their common part.
    pub(crate) fn behind(values: &Values<'_, '_>, reference: &Value) -> Option<Lock> {
        let target = match reference.kind.shape {
            Shape::Pointer(_) => values.target(reference)?,
            _ => values.follow(reference, &["arc"])?,
        };
        let value = values.follow(&target, &["locked", "lock"]).unwrap_or(target);
        Some(Lock { value })
    }

    /// The address of its semaphore.
    pub(crate) fn semaphore(&self, values: &Values<'_, '_>) -> Option<u64> {
        values.follow(&self.value, &SEMAPHORE).map(|semaphore| semaphore.address)
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
