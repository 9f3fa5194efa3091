//! Wakers that note each wake of a process, for the probe `process-wake` and for the table of tasks.
//!
//! While a tracer looks at the probe, or there is a table, a process is polled with a waker of its own, [`NotedWaker`]. Clones of it are with
//! everything that may wake the process. A clone lives as long as its owner likes: also after the process and after its runtime, when a wake is
//! passed on and notes nothing. The waker is the same in all polls, so that futures which compare wakers need not clone it again. It is
//! replaced only if the process is polled with another waker than before.

use std::ptr;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::task::{Wake, Waker};

use super::Pid;
use crate::probes::process as probes;
use crate::task_table;

/// The waker with which a process is polled.
pub(super) struct NotedWaker {
    waker: Waker,
    note: Arc<Note>,
    /// The address in the waker from outside.
    inner: usize,
}

/// The state that all clones of the waker share.
struct Note {
    /// The waker with which the process is polled from outside.
    inner: Waker,
    /// The number in the pid of the process; 0 once its `NotedWaker` is dropped.
    pid: AtomicU64,
    /// The source of the last wake, as the table of tasks has it.
    woken_by: AtomicU64,
    /// Whether there was a wake since the last poll began.
    is_woken: AtomicBool,
    /// Fires the probe.
    tell: fn(Pid),
}

/// Whether wakes are noted.
#[inline(always)]
pub(super) fn is_told() -> bool {
    task_table::is_started() || probes::wake::is_enabled()
}

impl NotedWaker {
    /// Returns `told`, which becomes a new one if it does not wake by `inner`. `tell` fires the probe for a process that is woken.
    #[inline(always)]
    pub(super) fn of<'t>(
        told: &'t mut Option<Box<NotedWaker>>,
        inner: &Waker,
        pid: Pid,
        tell: fn(Pid),
    ) -> Option<&'t NotedWaker> {
        if !told.as_ref().is_some_and(|told| told.wakes_by(inner)) {
            let new = NotedWaker::new(told.take(), inner, pid, tell);
            *told = Some(new);
        }
        told.as_deref()
    }

    #[cold]
    #[inline(never)]
    fn new(before: Option<Box<NotedWaker>>, inner: &Waker, pid: Pid, tell: fn(Pid)) -> Box<NotedWaker> {
        let woken_by = before.map_or(0, |before| before.note.woken_by.load(Relaxed));
        let note = Arc::new(Note {
            inner: inner.clone(),
            pid: AtomicU64::new(pid.number()),
            woken_by: AtomicU64::new(woken_by),
            is_woken: AtomicBool::new(false),
            tell,
        });
        // A clone: all of these have the table of functions that cloning gives them, so that they are found to be equal. The table of
        // another object file's `Waker::from` may be another one.
        let waker = Waker::from(Arc::clone(&note)).clone();
        Box::new(NotedWaker { waker, note, inner: inner.data().addr() })
    }

    /// As `will_wake`. That is compiled into one load of both words, which waits until the executor's two stores of them, just before, have
    /// reached the cache. As one of the words to compare is here and one in `note`, the compiler cannot join the loads.
    #[inline(always)]
    fn wakes_by(&self, inner: &Waker) -> bool {
        self.inner == inner.data().addr() && ptr::eq(self.note.inner.vtable(), inner.vtable())
    }

    #[inline(always)]
    pub(super) fn waker(&self) -> &Waker {
        &self.waker
    }

    /// Begins a poll. Returns what made the last wake, for the table of tasks; 0 if that is not known.
    #[inline(always)]
    pub(super) fn begin_poll(&self) -> u64 {
        // Relaxed: the executor orders the poll after the wake. If a further wake comes at the same time, its poll is still to come.
        self.note.is_woken.store(false, Relaxed);
        self.note.woken_by.load(Relaxed)
    }

    /// Whether the process was woken since its last poll began, or a clone of the waker can still wake it. A clone that is dropped later
    /// without a wake is not noticed.
    #[inline(always)]
    pub(super) fn can_wake(&self) -> bool {
        // One is here, and one in `waker`.
        Arc::strong_count(&self.note) > 2 || self.note.is_woken.load(Relaxed)
    }
}

/// From now on clones note nothing: the process has ended, or later clones stand for it.
impl Drop for NotedWaker {
    fn drop(&mut self) {
        self.note.pid.store(0, Relaxed);
    }
}

impl Wake for Note {
    #[inline]
    fn wake(self: Arc<Self>) {
        self.note();
        // This clone goes first: the poll that follows looks for clones.
        let inner = self.inner.clone();
        drop(self);
        inner.wake();
    }

    #[inline]
    fn wake_by_ref(self: &Arc<Self>) {
        // First: another thread may poll the process as soon as it is woken.
        self.note();
        self.inner.wake_by_ref();
    }
}

impl Note {
    #[inline(always)]
    fn note(&self) {
        let pid = self.pid.load(Relaxed);
        if pid == 0 {
            return;
        }
        self.is_woken.store(true, Relaxed);
        if let Some(woken_by) = task_table::wakes() {
            self.woken_by.store(woken_by, Relaxed);
        }
        if probes::wake::is_enabled() {
            (self.tell)(Pid::numbered(pid));
        }
    }
}
