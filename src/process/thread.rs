//! Small numbers for threads, and the operation numbers of each thread.
//!
//! A thread that ends returns its number together with its count of operations. The next thread with this number continues the
//! count. So no two operations in flight share `{thread, tag}`.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::OperationId;
use super::door::HOST;
use crate::forks::hold_across_forks;

static NUMBERS: Mutex<Numbers> = Mutex::new(Numbers { free: BTreeMap::new(), given: 0 });

thread_local! {
    static THREAD: Thread = Thread::begin();
}

/// Returns the number of the current thread: small, from 1. Another thread may get it when this one has ended.
pub fn thread_number() -> i32 {
    match HOST.get() {
        None => with_thread(|thread| thread.number),
        Some(host) => (host.thread_number)(),
    }
}

/// Names a new operation of the current thread.
///
/// ```
/// let first = dyntrace::process::next_operation();
/// let second = dyntrace::process::next_operation();
/// assert_eq!(second.thread, first.thread);
/// assert_eq!(second.tag, first.tag + 1);
/// ```
pub fn next_operation() -> OperationId {
    match HOST.get() {
        None => with_thread(|thread| OperationId { thread: thread.number, tag: thread.count() }),
        Some(host) => (host.next_operation)(),
    }
}

/// A destructor of a thread-local value may call this after the number is returned: it gets one for this call only.
fn with_thread<R>(ask: impl Fn(&Thread) -> R) -> R {
    THREAD.try_with(&ask).unwrap_or_else(|_| ask(&Thread::begin()))
}

struct Numbers {
    /// Free numbers, each with its count of operations.
    free: BTreeMap<i32, i32>,
    /// The number of numbers, free or not.
    given: i32,
}

struct Thread {
    number: i32,
    operations: Cell<i32>,
}

impl Thread {
    fn begin() -> Thread {
        hold_across_forks!(Numbers, lock());
        let mut numbers = lock();
        let (number, operations) = numbers.free.pop_first().unwrap_or_else(|| {
            numbers.given += 1;
            (numbers.given, 0)
        });
        Thread { number, operations: Cell::new(operations) }
    }

    fn count(&self) -> i32 {
        let tag = self.operations.get().checked_add(1).unwrap_or(1);
        self.operations.set(tag);
        tag
    }
}

impl Drop for Thread {
    fn drop(&mut self) {
        lock().free.insert(self.number, self.operations.get());
    }
}

/// No panic under this lock leaves the numbers half changed.
fn lock() -> MutexGuard<'static, Numbers> {
    NUMBERS.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_count_wraps_to_one() {
        let thread = Thread { number: i32::MAX, operations: Cell::new(i32::MAX - 1) };
        assert_eq!(thread.count(), i32::MAX);
        assert_eq!(thread.count(), 1);
        std::mem::forget(thread);
    }

    #[test]
    fn a_number_comes_back_with_its_count() {
        // Other tests take and give numbers meanwhile, so hold all free ones until the one under test is given back.
        let thread = Thread::begin();
        let before = OperationId { thread: thread.number, tag: thread.count() };
        drop(thread);
        let mut held = Vec::new();
        let again = loop {
            let thread = Thread::begin();
            if thread.number == before.thread {
                break thread;
            }
            assert!(held.len() < 10_000, "number {} never came back", before.thread);
            held.push(thread);
        };
        assert!(again.count() > before.tag);
    }

    #[test]
    fn threads_that_live_together_have_different_numbers() {
        let here = thread_number();
        let there = std::thread::spawn(thread_number).join().unwrap();
        assert_ne!(here, there);
        assert_eq!(here, thread_number());
    }

    #[test]
    fn destructors_of_a_thread_may_name_operations() {
        struct Last;
        impl Drop for Last {
            fn drop(&mut self) {
                assert!(next_operation().tag > 0);
                assert!(thread_number() > 0);
            }
        }
        thread_local! {
            static LAST: Last = const { Last };
        }
        std::thread::spawn(|| {
            // Made before the number, so dropped after or before it, as the platform likes: both must do.
            LAST.with(|_| ());
            next_operation();
        })
        .join()
        .unwrap();
        std::thread::spawn(|| {
            next_operation();
            LAST.with(|_| ());
        })
        .join()
        .unwrap();
    }
}
