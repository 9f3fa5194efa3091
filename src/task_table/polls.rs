//! The poll that each thread is in, for watches that look at all threads.
//!
//! A thread takes a cell at its first poll, and gives it back when it ends; the next thread takes it then. Cells are never freed, so a
//! watch may look at any time. Only the thread writes its cell, under the sequence lock of the table's slots.
//!
//! In the thread's last destructors nothing would give a cell back: a thread whose first poll is there has one that watches do not see.

use std::cell::Cell;
use std::iter;
use std::ptr;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64};
use std::thread;

use dyntrace_task_table::lock::{Locked, halves};

use super::kept::table;
use super::table::Table;
use crate::forks::Anew;
use crate::thread_progress::os::thread_id;

/// The first of all cells, and of those that no thread has. A forked child has none.
static CELLS: Anew<[AtomicPtr<Poll>; 2]> = Anew::new([const { AtomicPtr::new(ptr::null_mut()) }; 2]);
const ALL: usize = 0;
const FREE: usize = 1;

/// How often a thread looks for a free cell while others take or give back one. In vain in a signal handler that has interrupted such a
/// thread.
const TRIES: usize = 1000;

thread_local! {
    /// The thread's cell, and the table for which it was taken: a forked child has another thread id and another table.
    static OWN: Cell<(*const Table, *const Poll)> = const { Cell::new((ptr::null(), ptr::null())) };
    static ENDING: Ending = const { Ending };
    /// The cell of the thread's last destructors.
    static UNSEEN: Poll = const { Poll::new(0) };
}

/// A thread's cell.
#[derive(Debug)]
pub(super) struct Poll {
    /// The id of the last thread that had the cell.
    thread: AtomicU32,
    /// The task: its seat beside the lock, then [`PID`] and [`SINCE`].
    task: Locked<2>,
    /// The beginning of the last poll in which an older wait was found to last, in cycles. Only for the thread itself.
    lasted: AtomicU64,
    /// The cell that was made before.
    next: *const Poll,
    /// The next free cell.
    next_free: AtomicPtr<Poll>,
}

const PID: usize = 1;
const SINCE: usize = 2;

// SAFETY: shared by its atomics; `next` never changes, and refers to a cell that is never freed.
unsafe impl Sync for Poll {}

/// The task that a thread polls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Current {
    /// The number of its slot; 0 without one.
    pub seat: u32,
    /// The number in its pid; 0 outside of polls.
    pub pid: u64,
    /// When the poll began, in cycles; 0 outside of polls, and in calls that watches do not see.
    pub since: u64,
}

impl Poll {
    const fn new(thread: u32) -> Poll {
        let (thread, lasted) = (AtomicU32::new(thread), AtomicU64::new(0));
        Poll { thread, task: Locked::new(), lasted, next: ptr::null(), next_free: AtomicPtr::new(ptr::null_mut()) }
    }

    /// The id of the thread.
    #[inline(always)]
    pub(super) fn thread(&self) -> u32 {
        self.thread.load(Relaxed)
    }

    /// The task, as the thread itself sees it.
    #[inline(always)]
    pub(super) fn current(&self) -> Current {
        Current { seat: self.task.beside(), pid: self.task.word(PID), since: self.task.word(SINCE) }
    }

    /// Sets the task. Only for the thread itself.
    #[inline(always)]
    pub(super) fn set(&self, current: Current) {
        self.task.change(|words| {
            words.set_beside(current.seat);
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
        let (thread, seat) = (self.thread.load(Relaxed), halves(lock).1);
        (since != 0).then_some((thread, Current { seat, pid, since }))
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
    let thread = thread_id();
    let cell = match ENDING.try_with(|_| ()) {
        Ok(()) => take(thread),
        Err(_) => UNSEEN.with(|cell| {
            cell.thread.store(thread, Relaxed);
            // SAFETY: it has no destructor, so it lives as long as the thread, and only the thread uses it.
            unsafe { &*ptr::from_ref(cell) }
        }),
    };
    OWN.set((table, cell));
    cell
}

/// Takes a cell that no thread has, or makes one.
fn take(thread: u32) -> &'static Poll {
    if let Some(cell) = take_free() {
        // Relaxed: the change of the task that follows orders it.
        cell.thread.store(thread, Relaxed);
        return cell;
    }
    let new = Box::leak(Box::new(Poll::new(thread)));
    loop {
        let first = CELLS[ALL].load(Acquire);
        new.next = first;
        // Release: with the Acquire of `all`.
        if CELLS[ALL].compare_exchange(first, new, Release, Relaxed).is_ok() {
            return new;
        }
    }
}

fn take_free() -> Option<&'static Poll> {
    let first = (0..TRIES).find_map(|_| hold_free())?;
    // SAFETY: null, or a cell, which is never freed.
    let cell = unsafe { first.cast_const().as_ref() };
    let_free_go(cell.map_or(ptr::null_mut(), |cell| cell.next_free.load(Relaxed)));
    cell
}

fn give_back(cell: &'static Poll) {
    loop {
        if let Some(first) = hold_free() {
            cell.next_free.store(first, Relaxed);
            return let_free_go(ptr::from_ref(cell).cast_mut());
        }
    }
}

/// Stands for the first free cell while a thread changes the list: without it, that cell could leave and come back meanwhile.
static HELD: Poll = Poll::new(0);

/// Returns the first free cell, and keeps other threads from the list. `None` if another thread does that.
fn hold_free() -> Option<*mut Poll> {
    let held = ptr::from_ref(&HELD).cast_mut();
    // Acquire: with the Release of `let_free_go`.
    let first = CELLS[FREE].swap(held, Acquire);
    if ptr::eq(first, held) {
        thread::yield_now();
        return None;
    }
    Some(first)
}

fn let_free_go(first: *mut Poll) {
    // Release: a thread that takes the cell finds the next one, and its values come after those of the last thread.
    CELLS[FREE].store(first, Release);
}

/// All cells, of threads that poll and of others.
pub(super) fn all() -> impl Iterator<Item = &'static Poll> {
    // SAFETY: null, or a cell, which is never freed. Acquire: with the Release of `take`.
    let first = unsafe { CELLS[ALL].load(Acquire).cast_const().as_ref() };
    // SAFETY: likewise.
    iter::successors(first, |cell| unsafe { cell.next.as_ref() })
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

/// Gives the thread's cell back when the thread ends.
struct Ending;

impl Drop for Ending {
    fn drop(&mut self) {
        let (of, cell) = OWN.replace((ptr::null(), ptr::null()));
        // In a forked child it may be a cell of the parent.
        let is_listed = table().is_some_and(|table| ptr::eq(table, of));
        // SAFETY: null, or a cell, which is never freed.
        if let Some(cell) = unsafe { cell.as_ref() }.filter(|_| is_listed) {
            cell.set(Current { seat: 0, pid: 0, since: 0 });
            give_back(cell);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

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
        cell.set(Current { seat: 0, pid: 5, since: 100 });
        cell.set(Current { seat: 0, pid: 0, since: 0 });
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
                all().count()
            });
            // SAFETY: as above.
            unsafe { libc::_exit(cells.map_or(-1, |cells| cells as _)) };
        }
        let mut status = 0;
        // SAFETY: the child made above, and a place for its status.
        assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
        assert_eq!(status, 1 << 8, "one cell for one thread at a time");
    }

    #[test]
    fn a_poll_is_seen_while_it_lasts() {
        let cell = Poll::new(7);
        assert_eq!(cell.look(), None);
        let outer = Current { seat: 1, pid: 5, since: 100 };
        let inner = Current { seat: 2, pid: 6, since: 200 };
        cell.set(outer);
        let before = cell.current();
        cell.set(inner);
        assert_eq!(cell.look(), Some((7, inner)));
        cell.set(before);
        assert_eq!(cell.look(), Some((7, outer)));
        cell.set(Current { seat: 0, pid: 0, since: 0 });
        assert_eq!(cell.look(), None);
    }

    /// The seat, pid and beginning of each poll are equal, so a mixture of two polls is seen. Each is resumed after one inside of it.
    #[test]
    fn no_look_mixes_two_polls() {
        let cell = Poll::new(7);
        thread::scope(|scope| {
            let (ended, is_over) = mpsc::channel::<()>();
            let cell = &cell;
            let writer = scope.spawn(move || {
                for poll in 1..=200_000_u64 {
                    let outer = Current { seat: poll as u32, pid: poll, since: poll };
                    cell.set(outer);
                    cell.set(Current { seat: 1 + outer.seat, pid: poll + 1, since: poll + 1 });
                    cell.set(outer);
                    cell.set(Current { seat: 0, pid: 0, since: 0 });
                }
                drop(ended);
            });
            while is_over.try_recv() == Err(mpsc::TryRecvError::Empty) {
                if let Some((_, Current { seat, pid, since })) = cell.look() {
                    assert_eq!((u64::from(seat), pid), (since, since));
                }
            }
            writer.join().unwrap();
        });
    }
}
