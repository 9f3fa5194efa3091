//! The poll that each thread is in, for watches that look at all threads.
//!
//! A thread takes a cell at its first poll, and gives it back when it ends; the next thread takes it then. Cells are never freed, so a
//! watch may look at any time. Only the thread writes its cell.
//!
//! A task's slot says which thread polls it since when, so for a task with a slot the cell has the slot's number only. For a task without
//! one the cell has these facts itself, under a lock as that of a slot.

use std::cell::Cell;
use std::iter;
use std::ptr;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64};

use dyntrace_task_table::layout::{Kind, Slot, State};
use dyntrace_task_table::lock::Locked;

use super::table::{Table, task_in};
use crate::forks::Anew;
use crate::thread_progress::os::thread_id;

/// All cells. A forked child has none.
static CELLS: Anew<AtomicPtr<Poll>> = Anew::new(AtomicPtr::new(ptr::null_mut()));

thread_local! {
    /// The thread's cell, and the table for which it was taken: a forked child has another thread id and another table.
    static OWN: Cell<(*const Table, *const Poll)> = const { Cell::new((ptr::null(), ptr::null())) };
    static ENDING: Ending = const { Ending };
}

/// A thread's cell.
#[derive(Debug)]
pub(super) struct Poll {
    /// The thread's id; 0 while no thread has the cell.
    thread: AtomicU32,
    /// The number of the task's slot; 0 if it has none, and outside of polls.
    seat: AtomicU32,
    /// The number in the pid of the task, for the thread itself.
    pid: AtomicU64,
    /// [`PID`] and [`SINCE`] of the task while the seat is 0.
    slotless: Locked<2>,
    /// The cell that was made before.
    next: *const Poll,
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
    /// When the poll began, in cycles; 0 outside of polls, in calls that watches do not see, and where the slot says it.
    pub since: u64,
}

impl Current {
    /// No task.
    pub(super) const NONE: Current = Current { seat: 0, pid: 0, since: 0 };
}

impl Poll {
    fn new(thread: u32) -> Poll {
        Poll {
            thread: AtomicU32::new(thread),
            seat: AtomicU32::new(0),
            pid: AtomicU64::new(0),
            slotless: Locked::new(),
            next: ptr::null(),
        }
    }

    /// The id of the thread.
    #[inline(always)]
    pub(super) fn thread(&self) -> u32 {
        self.thread.load(Relaxed)
    }

    /// The task, as the thread itself sees it.
    #[inline(always)]
    pub(super) fn current(&self) -> Current {
        let seat = self.seat.load(Relaxed);
        let since = if seat == 0 { self.slotless.word(SINCE) } else { 0 };
        Current { seat, pid: self.pid.load(Relaxed), since }
    }

    /// The number in the pid of the task, as the thread itself sees it.
    #[inline(always)]
    pub(super) fn pid(&self) -> u64 {
        self.pid.load(Relaxed)
    }

    /// Sets the task. Only for the thread itself. The slot of a task that has one says already that this thread polls it.
    #[inline(always)]
    pub(super) fn set(&self, Current { seat, pid, since }: Current) {
        // A poll of a task with a slot leaves the words as they are, for the one around it.
        if seat == 0 && (self.slotless.word(PID), self.slotless.word(SINCE)) != (pid, since) {
            self.slotless.change(|words| {
                words.set(PID, pid);
                words.set(SINCE, since);
            });
        }
        self.pid.store(pid, Relaxed);
        // Release: a watch that sees the seat sees the words of the slot, or those above.
        self.seat.store(seat, Release);
    }

    /// The thread and its task, as another thread sees them. `None` outside of polls, and if the polls change all the time.
    pub(super) fn look(&self, slots: &[Slot]) -> Option<(u32, Current)> {
        // Acquire: partner of the store in `take`.
        let thread = self.thread.load(Acquire);
        // Acquire: partner of the store in `set`.
        let seat = self.seat.load(Acquire);
        let current = match (seat as usize).checked_sub(1) {
            None => {
                let (_, [pid, since]) = self.slotless.copied()?;
                Current { seat, pid, since }
            }
            Some(slot) => {
                let task = task_in(slots.get(slot)?)?;
                // The poll may have ended since the seat was read, and another thread may poll the task.
                let is_here = (task.state, task.thread, task.kind) == (State::Running, thread, Kind::Future);
                Current { seat, pid: task.pid, since: if is_here { task.scheduled } else { 0 } }
            }
        };
        (current.since != 0).then_some((thread, current))
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
    let cell = take(thread_id());
    OWN.set((table, cell));
    // In the thread's last destructors it fails: then the cell stays with the thread's id.
    let _ = ENDING.try_with(|_| ());
    cell
}

/// Takes a cell that no thread has, or makes one.
fn take(thread: u32) -> &'static Poll {
    let is_taken = |cell: &&Poll| cell.thread.compare_exchange(0, thread, AcqRel, Relaxed).is_ok();
    if let Some(cell) = all().find(is_taken) {
        return cell;
    }
    let new = Box::leak(Box::new(Poll::new(thread)));
    loop {
        let first = CELLS.load(Acquire);
        new.next = first;
        // Release: with the Acquire of `all`.
        if CELLS.compare_exchange(first, new, Release, Relaxed).is_ok() {
            return new;
        }
    }
}

/// All cells, of threads that poll and of others.
pub(super) fn all() -> impl Iterator<Item = &'static Poll> {
    // SAFETY: null, or a cell, which is never freed. Acquire: with the Release of `take`.
    let first = unsafe { CELLS.load(Acquire).cast_const().as_ref() };
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
        let (_, cell) = OWN.replace((ptr::null(), ptr::null()));
        // SAFETY: null, or a cell, which is never freed.
        if let Some(cell) = unsafe { cell.as_ref() } {
            cell.set(Current::NONE);
            // Release: the next thread's values come after these.
            cell.thread.store(0, Release);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::thread;

    use dyntrace_task_table::layout::{Task, slot};

    use super::*;

    #[test]
    fn a_poll_is_seen_while_it_lasts() {
        let cell = Poll::new(7);
        let slots = [running(8, 5, 100), running(7, 6, 200)];
        let look = || cell.look(&slots);
        assert_eq!(look(), None);
        let outer = Current { seat: 0, pid: 4, since: 50 };
        let seated = |seat, pid| Current { seat, pid, since: 0 };
        for (inner, seen) in [
            (Current { seat: 0, pid: 9, since: 300 }, Some((7, Current { seat: 0, pid: 9, since: 300 }))),
            (seated(2, 6), Some((7, Current { seat: 2, pid: 6, since: 200 }))),
            // Another thread polls it, or there is no such slot.
            (seated(1, 5), None),
            (seated(3, 5), None),
        ] {
            cell.set(outer);
            let before = cell.current();
            assert_eq!((before, look()), (outer, Some((7, outer))));
            cell.set(inner);
            assert_eq!((cell.pid(), cell.current(), look()), (inner.pid, inner, seen));
            // A third one, of the other kind.
            cell.set(if inner.seat == 0 { seated(2, 6) } else { Current { seat: 0, pid: 3, since: 30 } });
            cell.set(inner);
            assert_eq!((cell.current(), look()), (inner, seen));
            cell.set(before);
            assert_eq!((cell.current(), look()), (outer, Some((7, outer))));
            cell.set(Current::NONE);
            assert_eq!((cell.pid(), look()), (0, None));
        }
        cell.set(seated(2, 6));
        slots[1].change(|words| words.set(slot::PID, Task::pid_word(6, Kind::Future, State::Idle)));
        assert_eq!(look(), None, "the poll has ended");
        slots[1].change(|words| words.set(slot::PID, Task::pid_word(6, Kind::Blocking, State::Running)));
        assert_eq!(look(), None, "watches do not see calls");
    }

    /// A slot of a task that the thread polls.
    fn running(thread: u32, pid: u64, since: u64) -> Slot {
        let slot = Slot::new();
        begin_poll(&slot, thread, pid, since);
        slot
    }

    fn begin_poll(slot: &Slot, thread: u32, pid: u64, since: u64) {
        slot.change(|words| {
            words.set(slot::PID, Task::pid_word(pid, Kind::Future, State::Running));
            words.set(slot::SCHEDULED, since);
            words.set(slot::POLLS, Task::next_poll(words.get(slot::POLLS), thread));
        });
    }

    /// The pid and beginning of each poll are equal, so a mixture of two polls is seen. Each is resumed after one inside of it. Every other
    /// task has a slot.
    #[test]
    fn no_look_mixes_two_polls() {
        let (cell, slots) = (Poll::new(7), [Slot::new()]);
        thread::scope(|scope| {
            let (ended, is_over) = mpsc::channel::<()>();
            let (cell, slots) = (&cell, &slots);
            let writer = scope.spawn(move || {
                for poll in 1..=100_000_u64 {
                    let outer = Current { seat: 0, pid: 2 * poll, since: 2 * poll };
                    cell.set(outer);
                    cell.set(Current { seat: 0, pid: 2 * poll + 2, since: 2 * poll + 2 });
                    cell.set(outer);
                    begin_poll(&slots[0], 7, 2 * poll + 1, 2 * poll + 1);
                    cell.set(Current { seat: 1, pid: 2 * poll + 1, since: 0 });
                    cell.set(outer);
                    cell.set(Current::NONE);
                }
                drop(ended);
            });
            while is_over.try_recv() == Err(mpsc::TryRecvError::Empty) {
                if let Some((_, Current { seat, pid, since })) = cell.look(slots) {
                    assert_eq!((u64::from(seat), pid), (since % 2, since));
                }
            }
            writer.join().unwrap();
        });
    }
}
