//! Small numbers for threads, and the operation numbers of each thread.
//!
//! A thread that ends leaves its number and its count of operations to the next thread, which continues the count. So no two operations
//! in flight share `{thread, tag}`.

use std::cell::Cell;
use std::sync::atomic::AtomicI32;
use std::sync::atomic::Ordering::Relaxed;

use dyntrace_probes::thread_progress::{PerRecord, Zeros};

use super::OperationId;
use super::for_guests::HOST;

/// The highest number given. All of this is relaxed: one thread writes a thread's values, and the next one has seen its end.
static GIVEN: AtomicI32 = AtomicI32::new(0);
static THREADS: PerRecord<Thread> = PerRecord::new();
/// Of all threads that found no memory for their own.
static OTHERS: Thread = Thread { number: AtomicI32::new(0), operations: AtomicI32::new(0) };

thread_local! {
    static OWN: Cell<Option<&'static Thread>> = const { Cell::new(None) };
}

/// A number, and the last operation of the thread that has it.
struct Thread {
    /// 0 if no thread has asked for it.
    number: AtomicI32,
    operations: AtomicI32,
}

// SAFETY: atomics.
unsafe impl Zeros for Thread {}

/// Returns the number of the current thread: small, from 1. Another thread may get it when this one has ended.
#[inline]
pub fn thread_number() -> i32 {
    match HOST.get() {
        None => OWN.get().unwrap_or_else(begin).number.load(Relaxed),
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
#[inline]
pub fn next_operation() -> OperationId {
    match HOST.get() {
        None => OWN.get().map_or_else(next_of_new, Thread::next),
        Some(host) => (host.next_operation)(),
    }
}

/// The current thread's values; those of all others if there is no memory.
#[cold]
fn begin() -> &'static Thread {
    let Some(thread) = THREADS.own() else {
        let _ = OTHERS.number.compare_exchange(0, new_number(), Relaxed, Relaxed);
        return &OTHERS;
    };
    if thread.number.load(Relaxed) == 0 {
        // A signal handler may have given it one meanwhile.
        let _ = thread.number.compare_exchange(0, new_number(), Relaxed, Relaxed);
    }
    OWN.set(Some(thread));
    thread
}

fn new_number() -> i32 {
    GIVEN.fetch_add(1, Relaxed) + 1
}

#[cold]
fn next_of_new() -> OperationId {
    let thread = begin();
    if OWN.get().is_some() {
        return thread.next();
    }
    // Several threads at once.
    let last = thread.operations.fetch_update(Relaxed, Relaxed, |last| Some(following(last))).unwrap_or_default();
    OperationId { thread: thread.number.load(Relaxed), tag: following(last) }
}

fn following(tag: i32) -> i32 {
    tag.checked_add(1).unwrap_or(1)
}

impl Thread {
    fn next(&self) -> OperationId {
        let tag = following(self.operations.load(Relaxed));
        self.operations.store(tag, Relaxed);
        OperationId { thread: self.number.load(Relaxed), tag }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_count_wraps_to_one() {
        let thread = Thread { number: AtomicI32::new(i32::MAX), operations: AtomicI32::new(i32::MAX - 1) };
        assert_eq!([thread.next().tag, thread.next().tag], [i32::MAX, 1]);
    }

    #[test]
    #[cfg(not(miri))]
    fn a_number_comes_back_with_its_count() {
        let mut seen = std::collections::HashSet::new();
        // Other tests have threads at the same time.
        let is_back = (0..10_000).any(|_| {
            let OperationId { thread, tag } = std::thread::spawn(next_operation).join().unwrap();
            assert!(seen.insert((thread, tag)), "{thread} {tag} came twice");
            tag > 1
        });
        assert!(is_back, "no number came back");
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
