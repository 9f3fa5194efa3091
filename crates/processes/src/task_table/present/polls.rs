//! The poll that each thread is in, for watches that look at all threads.
//!
//! A thread has a cell from its first poll on; the next thread takes it when the thread has ended. Cells are never freed, so a watch may
//! look at any time. Only the thread writes its cell, under the sequence lock of the table's slots.
//!
//! A thread that finds no memory has a cell that watches do not see.

use std::cell::Cell;
use std::ptr;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU32, AtomicU64};

use dyntrace_probes::forks::ZeroedByFork;
use dyntrace_probes::thread_progress::os::thread_id;
use dyntrace_probes::thread_progress::{PerRecord, Zeros};
use dyntrace_task_table::lock::{Locked, halves};

use super::table::Table;

/// All cells. A forked child has none.
static CELLS: ZeroedByFork<PerRecord<Poll>> = ZeroedByFork::new(PerRecord::new());

thread_local! {
    /// The thread's cell, and the table for which it was taken: a forked child has another thread id and another table.
    static OWN: Cell<(*const Table, *const Poll)> = const { Cell::new((ptr::null(), ptr::null())) };
    /// The cell of a thread that finds no memory.
    static UNSEEN: Poll = const { Poll::new() };
}

/// A thread's cell.
#[derive(Debug)]
pub(super) struct Poll {
    /// The id of the last thread that had the cell.
    thread: AtomicU32,
    /// The task: its slot beside the lock, then [`PID`] and [`SINCE`].
    task: Locked<2>,
    /// The beginning of the last poll in which an older wait was found to last, in cycles. Only for the thread itself.
    lasted: AtomicU64,
}

const PID: usize = 1;
const SINCE: usize = 2;

// SAFETY: atomics.
unsafe impl Zeros for Poll {}

/// The task that a thread polls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Current {
    /// The number of its slot; 0 without one.
    pub slot: u32,
    /// The number in its pid; 0 outside of polls.
    pub pid: u64,
    /// When the poll began, in cycles; 0 outside of polls, and in calls that watches do not see.
    pub since: u64,
}

impl Poll {
    const fn new() -> Poll {
        Poll { thread: AtomicU32::new(0), task: Locked::new(), lasted: AtomicU64::new(0) }
    }

    /// The id of the thread.
    #[inline(always)]
    pub(super) fn thread(&self) -> u32 {
        self.thread.load(Relaxed)
    }

    /// The task, as the thread itself sees it.
    #[inline(always)]
    pub(super) fn current(&self) -> Current {
        Current { slot: self.task.beside(), pid: self.task.word(PID), since: self.task.word(SINCE) }
    }

    /// Sets the task. Only for the thread itself.
    #[inline(always)]
    pub(super) fn set(&self, current: Current) {
        self.task.change(|words| {
            words.set_beside(current.slot);
            words.set(PID, current.pid);
            words.set(SINCE, current.since);
        });
    }

    /// Notes that the wait in the row of the task lasts, for the poll that began at this time. Only for the thread itself.
    pub(super) fn wait_lasts(&self, began: u64) {
        // Relaxed: only this thread uses it.
        self.lasted.store(began, Relaxed);
    }

    /// Whether that was noted in the poll that began at this time.
    pub(super) fn has_lasting_wait(&self, began: u64) -> bool {
        self.lasted.load(Relaxed) == began
    }

    /// The thread and its task, as another thread sees them. `None` outside of polls, and if the polls change all the time.
    pub(super) fn look(&self) -> Option<(u32, Current)> {
        let (lock, [pid, since]) = self.task.copied()?;
        // Relaxed: a thread sets its task after it has taken the cell, and the copy's Acquire is partner of that change.
        let (thread, slot) = (self.thread.load(Relaxed), halves(lock).1);
        (since != 0).then_some((thread, Current { slot, pid, since }))
    }
}

/// The cell of the current thread, if it has one.
#[inline(always)]
pub(super) fn own() -> Option<&'static Poll> {
    // SAFETY: null, or a cell, which is never freed.
    unsafe { OWN.get().1.as_ref() }
}

/// The cell of the current thread; it takes one at first.
#[inline(always)]
pub(super) fn own_for(table: &Table) -> &'static Poll {
    let (of, cell) = OWN.get();
    // SAFETY: a cell that was taken for this table. It is never freed.
    if ptr::eq(of, table) { unsafe { &*cell } } else { begin(table) }
}

#[cold]
fn begin(table: &Table) -> &'static Poll {
    // SAFETY: it has no destructor, so it lives as long as the thread, and only the thread uses it.
    let unseen = || UNSEEN.with(|cell| unsafe { &*ptr::from_ref(cell) });
    let cell = CELLS.own().unwrap_or_else(unseen);
    cell.set(Current { slot: 0, pid: 0, since: 0 });
    // Relaxed: the change of the task that follows orders it.
    cell.thread.store(thread_id(), Relaxed);
    OWN.set((table, cell));
    cell
}

/// All cells, of threads that poll and of others.
pub(super) fn all() -> impl Iterator<Item = &'static Poll> {
    CELLS.all()
}

/// Has the kernel leave forked children without cells. Returns `false` where it cannot.
pub(super) fn wipe_in_children() -> bool {
    CELLS.wipe_in_children()
}

/// Leaves a forked child without cells.
///
/// # Safety
///
/// The caller is the child's only thread.
pub(super) unsafe fn forget() {
    // SAFETY: as the caller promises.
    unsafe { CELLS.forget() };
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::thread;

    use super::super::program::table;
    use super::*;

    /// Polls when it is dropped.
    struct Last;

    impl Drop for Last {
        fn drop(&mut self) {
            poll();
        }
    }

    thread_local! {
        static LAST: Last = const { Last };
    }

    fn poll() {
        let cell = own_for(table().expect("a table"));
        cell.set(Current { slot: 0, pid: 5, since: 100 });
        cell.set(Current { slot: 0, pid: 0, since: 0 });
    }

    /// In a child, because a table changes all other tests.
    #[test]
    #[cfg(not(miri))]
    fn the_last_destructors_of_threads_leave_no_cells() {
        // SAFETY: the child uses the allocator, which glibc keeps usable, and ends. A signal ends it if it waits for ever.
        let child = unsafe { libc::fork() };
        if child == 0 {
            let polls = || {
                // Destructors run in the opposite order.
                LAST.with(|_| ());
                poll();
            };
            let cells = tempfile::tempfile().and_then(super::super::start).map(|()| {
                (0..100).for_each(|_| drop(thread::spawn(polls).join()));
                all().filter(|cell| cell.thread() != 0).count()
            });
            // SAFETY: as above.
            unsafe { libc::_exit(cells.map_or(-1, |cells| cells as _)) };
        }
        let mut status = 0;
        // SAFETY: the child made above, and a place for its status.
        assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
        // A thread that is joined may not have ended yet for the kernel.
        assert!((1..50).contains(&(status >> 8)), "one cell for one thread at a time: {status:#x}");
    }

    #[test]
    fn a_poll_is_seen_while_it_lasts() {
        let cell = Poll { thread: AtomicU32::new(7), ..Poll::new() };
        assert_eq!(cell.look(), None);
        let outer = Current { slot: 1, pid: 5, since: 100 };
        let inner = Current { slot: 2, pid: 6, since: 200 };
        cell.set(outer);
        let before = cell.current();
        cell.set(inner);
        assert_eq!(cell.look(), Some((7, inner)));
        cell.set(before);
        assert_eq!(cell.look(), Some((7, outer)));
        cell.set(Current { slot: 0, pid: 0, since: 0 });
        assert_eq!(cell.look(), None);
    }

    /// The slot, pid and beginning of each poll are equal, so a mixture of two polls is seen. Each is resumed after one inside of it.
    #[test]
    fn no_look_mixes_two_polls() {
        let cell = Poll { thread: AtomicU32::new(7), ..Poll::new() };
        thread::scope(|scope| {
            let (ended, is_over) = mpsc::channel::<()>();
            let cell = &cell;
            let writer = scope.spawn(move || {
                for poll in 1..=200_000_u64 {
                    let outer = Current { slot: poll as u32, pid: poll, since: poll };
                    cell.set(outer);
                    cell.set(Current { slot: 1 + outer.slot, pid: poll + 1, since: poll + 1 });
                    cell.set(outer);
                    cell.set(Current { slot: 0, pid: 0, since: 0 });
                }
                drop(ended);
            });
            while is_over.try_recv() == Err(mpsc::TryRecvError::Empty) {
                if let Some((_, Current { slot, pid, since })) = cell.look() {
                    assert_eq!((u64::from(slot), pid), (since, since));
                }
            }
            writer.join().unwrap();
        });
    }
}
