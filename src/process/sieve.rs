//! Sets of processes that are quickly asked for the current one, and say "perhaps".
//!
//! Which process runs depends on the tokio task, and to ask for that costs more than everything else about a call that nobody wants
//! to know of. But it is the thread, or what is in the thread's slot, and these change only where a task is polled. So
//! each thread remembers both.

use std::cell::Cell;

use super::Pid;

/// A set that has what was put in, and perhaps others.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Sieve(u64);

thread_local! {
    /// Who may be running on this thread.
    static RUNNING: Cell<Sieve> = const { Cell::new(Sieve::ALL) };
    /// The thread, as long as nothing is in its slot.
    static ALONE: Cell<Option<Pid>> = const { Cell::new(None) };
}

impl Sieve {
    pub(crate) const ALL: Sieve = Sieve(u64::MAX);

    /// Whether the current process may be in it. Calls nothing.
    #[inline(always)]
    pub(crate) fn may_have_current(self) -> bool {
        self.0 & RUNNING.get().0 != 0
    }
}

impl From<Pid> for Sieve {
    fn from(pid: Pid) -> Sieve {
        Sieve(1 << (pid.0 % u64::from(u64::BITS)))
    }
}

impl<T: Into<Sieve>> FromIterator<T> for Sieve {
    fn from_iter<I: IntoIterator<Item = T>>(parts: I) -> Sieve {
        Sieve(parts.into_iter().fold(0, |all, part| all | part.into().0))
    }
}

/// Remembers who may be running on the current thread from now on: nobody knows, as long as the thread has no pid.
pub(super) fn runs(thread: Option<Pid>, process: Option<Pid>) {
    RUNNING.set(thread.map_or(Sieve::ALL, |thread| [thread].into_iter().chain(process).collect()));
    ALONE.set(thread.filter(|_| process.is_none()));
}

/// The current process, if it is the thread and nobody else can be.
#[inline(always)]
pub(super) fn alone() -> Option<Pid> {
    ALONE.get()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process;

    fn may_be(pid: Pid) -> bool {
        Sieve::from(pid).may_have_current()
    }

    #[tokio::test]
    async fn has_whoever_runs_and_few_others() {
        let thread = process::current();
        assert_eq!(alone(), Some(thread));
        assert!(may_be(thread) && !may_be(Pid::numbered(thread.0 + 1)));
        assert!(Sieve::ALL.may_have_current() && !Sieve::from_iter(None::<Pid>).may_have_current());
        let polls = async {
            assert!(may_be(process::current()) && alone().is_none());
            // A task that a process polls, and that is none itself, is the thread's.
            let inner = tokio::task::LocalSet::new();
            let inside = inner.spawn_local(async { assert!(may_be(process::current())) });
            inner.run_until(inside).await.expect("the assertion holds");
            process::current()
        };
        let outer = tokio::task::LocalSet::new();
        let task = outer.run_until(async { process::spawn_local(polls).await }).await.expect("the assertions hold");
        assert_ne!(task, thread);
        assert_eq!(alone(), Some(thread));
        assert!(may_be(thread) && (may_be(task) == (task.0 % 64 == thread.0 % 64)));
        // Of a thread that never asked who it is, nothing is known.
        std::thread::spawn(|| assert!(may_be(Pid::next()))).join().expect("the assertion holds");
    }
}
