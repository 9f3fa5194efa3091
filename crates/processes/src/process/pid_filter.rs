//! Filters that say quickly whether the current process may be in a set. They have false positives.
//!
//! The current process depends on the tokio task. Asking tokio for it costs more than the rest of a call that no pattern matches.
//! But the process is either the thread or the one in the thread's slot, and both change only when a task is polled. So each
//! thread remembers a filter of both.

use std::cell::Cell;

use super::Pid;

/// A set of processes that may contain others too: one bit for each number modulo 64.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PidFilter(u64);

thread_local! {
    /// The processes that this thread may be running.
    static RUNNING: Cell<PidFilter> = const { Cell::new(PidFilter::ALL) };
    /// Whether this thread has polled a task that has a pid and does not use the slot.
    static HAS_OTHERS: Cell<bool> = const { Cell::new(false) };
    /// The pid of the thread, while its slot is empty.
    static ALONE: Cell<Option<Pid>> = const { Cell::new(None) };
}

impl PidFilter {
    /// All processes.
    pub const ALL: PidFilter = PidFilter(u64::MAX);

    /// Whether the current process may be in the set. Calls no function.
    #[inline(always)]
    pub fn may_have_current(self) -> bool {
        self.0 & RUNNING.get().0 != 0
    }
}

impl From<Pid> for PidFilter {
    fn from(pid: Pid) -> PidFilter {
        PidFilter(1 << (pid.0 % u64::from(u64::BITS)))
    }
}

impl<T: Into<PidFilter>> FromIterator<T> for PidFilter {
    fn from_iter<I: IntoIterator<Item = T>>(parts: I) -> PidFilter {
        PidFilter(parts.into_iter().fold(0, |all, part| all | part.into().0))
    }
}

/// Remembers the processes that the current thread may run from now on: all, while the thread has no pid.
#[inline(always)]
pub(super) fn runs(thread: Option<Pid>, process: Option<Pid>) {
    if TELLS_OF_RUNTIME_TASKS && HAS_OTHERS.get() {
        return;
    }
    RUNNING.set(thread.map_or(PidFilter::ALL, |thread| [thread].into_iter().chain(process).collect()));
    ALONE.set(thread.filter(|_| process.is_none()));
}

/// Whether runtimes tell of tasks that have a pid and do not use the slot.
const TELLS_OF_RUNTIME_TASKS: bool = cfg!(all(tokio_unstable, feature = "runtime"));

/// Notes that the current thread polls such a task. From now on it may run any process.
#[cfg(all(tokio_unstable, feature = "runtime"))]
#[inline]
pub(super) fn has_runtime_tasks() {
    if !HAS_OTHERS.replace(true) {
        RUNNING.set(PidFilter::ALL);
        ALONE.set(None);
    }
}

/// Whether the current thread has polled such a task.
#[cfg(all(tokio_unstable, feature = "runtime"))]
pub(super) fn has_polled_runtime_tasks() -> bool {
    HAS_OTHERS.get()
}

/// The current process, if it can only be the thread.
#[inline(always)]
pub(super) fn alone() -> Option<Pid> {
    ALONE.get()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process;

    fn may_be(pid: Pid) -> bool {
        PidFilter::from(pid).may_have_current()
    }

    #[tokio::test]
    async fn has_whoever_runs_and_few_others() {
        let thread = process::current();
        assert_eq!(alone(), Some(thread));
        assert!(may_be(thread) && !may_be(Pid::numbered(thread.0 + 1)));
        assert!(PidFilter::ALL.may_have_current() && !PidFilter::from_iter(None::<Pid>).may_have_current());
        let polls = async {
            assert!(may_be(process::current()) && alone().is_none());
            // A task that a process polls, and that is none itself, is the thread's.
            let inner = tokio::task::LocalSet::new();
            let inside = inner.spawn_local(async { assert!(may_be(process::current())) });
            inner.run_until(inside).await.expect("the assertion holds");
            process::current()
        };
        let outer = tokio::task::LocalSet::new();
        let task = outer
            .run_until(async { process::spawn_local_as(Pid::next(), polls).await })
            .await
            .expect("the assertions hold");
        assert_ne!(task, thread);
        assert_eq!(alone(), Some(thread));
        assert!(may_be(thread) && (may_be(task) == (task.0 % 64 == thread.0 % 64)));
        // A thread that never asked for its pid may be any process.
        std::thread::spawn(|| assert!(may_be(Pid::next()))).join().expect("the assertion holds");
    }
}
