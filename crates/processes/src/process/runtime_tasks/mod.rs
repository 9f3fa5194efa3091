//! Tasks that this crate did not spawn, of a runtime that tells of each task: their pids, their slots, and the probes of their lives.
//!
//! The runtime calls the functions of [`RuntimeTasks`] around each spawn, poll and end. A task that [`spawn`](super::spawn) starts tells its
//! life itself, so it has no entry here.
//!
//! The runtime calls after a poll when the task is already free for the next one. So another thread may call for that poll, or for the
//! end of the task, before the first thread calls. The thread that calls first ends the poll in the slot.

mod entries;

use std::cell::Cell;
use std::panic::Location;
use std::sync::atomic::{AtomicU64, Ordering};

use dyntrace_probes::clock;
use dyntrace_probes::sdt::is_only_kept;
use dyntrace_probes::text::SourcePlace;
use tokio::task::Id;

use super::life::is_watched;
use super::pid_filter::has_runtime_tasks;
use super::scheduling::{fire_scheduled, fire_unscheduled};
use super::{Pid, current};
use crate::probes::process as probes;
use crate::task_table::{HookedPoll, Spawned, TaskSlot};

pub(super) use entries::pid_of_running;
use entries::{Entry, hold_across_forks, of_polled, take_all, with};

/// The function of a task: a runtime does not tell its type.
const FUNCTION: &str = "?";
/// How a poll and a task end: a runtime does not tell whether the task is ready, has panicked or was cancelled.
const ENDED: &str = "ended";

/// The tasks of one runtime.
pub struct RuntimeTasks {
    runtime: u64,
}

/// A poll of a task that has been told.
struct Poll {
    task: Id,
    pid: Pid,
    began: u64,
    /// The poll in the slot, and the task that the thread polled before.
    outer: HookedPoll,
}

thread_local! {
    /// Whether this thread spawns a task that tells its life itself.
    static SPAWNS_OWN: Cell<bool> = const { Cell::new(false) };
    /// The polls that this thread is in, the innermost one last: a task may run another runtime.
    static POLLS: Cell<Vec<Poll>> = const { Cell::new(Vec::new()) };
    /// Whether there are such polls.
    static IS_POLLING: Cell<bool> = const { Cell::new(false) };
    /// The last task without an entry that ended on this thread.
    static ENDED_FIRST: Cell<Option<Id>> = const { Cell::new(None) };
}

impl RuntimeTasks {
    /// Numbers a runtime.
    pub fn new() -> RuntimeTasks {
        static LAST: AtomicU64 = AtomicU64::new(0);
        hold_across_forks();
        // Relaxed: the numbers need only differ.
        RuntimeTasks { runtime: LAST.fetch_add(1, Ordering::Relaxed) }
    }

    /// A task was spawned by the current thread.
    pub fn spawned(&self, task: Id, at: &'static Location<'static>) {
        if SPAWNS_OWN.get() {
            return;
        }
        let pid = Pid::next();
        let slot = match probes::spawn::is_enabled() {
            true => tell_spawn(task, pid, at),
            false => TaskSlot::NONE,
        };
        let entry = Entry { runtime: self.runtime, pid, slot };
        // A runtime that has ended ends a new task before it tells of the spawn.
        if ENDED_FIRST.take() == Some(task) {
            return end(&entry);
        }
        with(task, |tasks| tasks.insert(task, entry));
    }

    /// The current thread begins to poll a task.
    #[inline]
    pub fn scheduled(&self, task: Id) {
        has_runtime_tasks();
        if is_watched() {
            tell_scheduled(task);
        }
    }

    /// The current thread has polled a task.
    #[inline]
    pub fn unscheduled(&self, task: Id) {
        if IS_POLLING.get() {
            tell_unscheduled(task);
        }
    }

    /// A task has ended, perhaps in its poll.
    pub fn ended(&self, task: Id) {
        if IS_POLLING.get()
            && let Some(poll) = poll_of(task)
        {
            let now = clock::now();
            poll.outer.resume();
            told(poll.pid, poll.began, now, ENDED);
        }
        match with(task, |tasks| tasks.remove(&task)).flatten() {
            Some(entry) => end(&entry),
            None => ENDED_FIRST.set(Some(task)),
        }
    }
}

/// A task that another thread ended before its spawn was told has an entry until the end of the runtime.
impl Drop for RuntimeTasks {
    fn drop(&mut self) {
        take_all(self.runtime).iter().for_each(end);
    }
}

/// While it lives, the current thread spawns a task that tells its life itself.
pub(super) struct SpawnsOwn(bool);

impl SpawnsOwn {
    pub(super) fn begin() -> SpawnsOwn {
        SpawnsOwn(SPAWNS_OWN.replace(true))
    }
}

impl Drop for SpawnsOwn {
    fn drop(&mut self) {
        SPAWNS_OWN.set(self.0);
    }
}

#[cold]
fn tell_spawn(task: Id, pid: Pid, at: &'static Location<'static>) -> TaskSlot {
    let parent = current();
    if !is_only_kept!(probes::spawn) {
        let place = SourcePlace::new(at);
        probes::spawn(|| (pid, FUNCTION, parent, place.text(), None::<&str>));
    }
    TaskSlot::take(&Spawned {
        pid: pid.number(),
        is_blocking: false,
        is_counted: true,
        task: Some(task),
        parent: parent.number(),
        function: FUNCTION,
        place: at,
        tag: None,
    })
}

#[cold]
fn tell_scheduled(task: Id) {
    let Some((pid, slot)) = of_polled(task) else { return };
    let is_told = !is_only_kept!(probes::scheduled) || probes::unscheduled::is_enabled();
    if is_told {
        clock::prepare_once();
    }
    let mut began = clock::now();
    let outer = slot.poll_begins(pid.number(), began);
    if is_told {
        began = fire_scheduled(pid, FUNCTION, began);
    }
    change_polls(|polls| polls.push(Poll { task, pid, began, outer }));
}

#[cold]
fn tell_unscheduled(task: Id) {
    // Without one, it has ended in the poll.
    let Some(poll) = poll_of(task) else { return };
    let now = clock::now();
    let Poll { pid, began, outer, .. } = poll;
    outer.ends(pid.number(), now);
    told(pid, began, now, "pending");
}

/// Tells that a poll has ended.
fn told(pid: Pid, began: u64, now: u64, outcome: &'static str) {
    if probes::unscheduled::is_enabled() {
        fire_unscheduled(pid, began, now, outcome);
    }
}

fn end(entry: &Entry) {
    probes::exit(|| (entry.pid, ENDED));
    entry.slot.leave_after_polls(entry.pid.number());
}

/// Takes the innermost poll of the current thread, if it is one of this task.
fn poll_of(task: Id) -> Option<Poll> {
    change_polls(|polls| polls.pop_if(|poll| poll.task == task))?
}

/// Changes the polls of the current thread; `None` once they are destroyed. `change` must not run code of the program.
fn change_polls<R>(change: impl FnOnce(&mut Vec<Poll>) -> R) -> Option<R> {
    POLLS
        .try_with(|all| {
            let mut polls = all.take();
            let answer = change(&mut polls);
            IS_POLLING.set(!polls.is_empty());
            all.set(polls);
            answer
        })
        .ok()
}
