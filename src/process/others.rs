//! Tasks that this crate did not spawn, of a runtime that tells of each task: their pids, their slots, and the probes of their lives.
//!
//! The runtime calls the functions of [`Others`] around each spawn, poll and end. A task that [`spawn`](super::spawn) starts tells its
//! life itself, so it has no entry here.
//!
//! The runtime calls after a poll when the task is already free for the next one. So another thread may call for that poll, or for the
//! end of the task, before the first thread calls. The slot is therefore written under the lock of the task's entry.

use std::cell::Cell;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::panic::Location;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::task::Id;

use super::life::{is_watched, spent};
use super::{Pid, current};
use crate::clock;
use crate::probes::process as probes;
use crate::sdt::is_only_kept;
use crate::task_table::{Seat, Spawned};
use crate::text::Place;

/// The function of a task: a runtime does not tell its type.
const FUNCTION: &str = "?";
/// How a poll and a task end: a runtime does not tell whether the task is ready, has panicked or was cancelled.
const ENDED: &str = "ended";
/// A power of two.
const SHARDS: usize = 16;

/// The tasks of one runtime.
pub(crate) struct Others {
    shards: [Mutex<HashMap<Id, Other, BuildHasherDefault<Spread>>>; SHARDS],
}

/// A task, until its end.
struct Other {
    pid: Pid,
    seat: Seat,
    /// The number of polls that have been told.
    polls: u64,
}

/// A poll of a task that has been told.
struct Poll {
    task: Id,
    pid: Pid,
    /// Its number among those of the task.
    number: u64,
    began: u64,
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

impl Others {
    pub(crate) fn new() -> Others {
        Others { shards: Default::default() }
    }

    /// A task was spawned by the current thread.
    pub(crate) fn spawned(&self, task: Id, at: &'static Location<'static>) {
        if SPAWNS_OWN.get() {
            return;
        }
        let pid = Pid::next();
        let seat = match probes::spawn::is_enabled() {
            true => tell_spawn(pid, at),
            false => Seat::NONE,
        };
        let other = Other { pid, seat, polls: 0 };
        // A runtime that has ended ends a new task before it tells of the spawn.
        if ENDED_FIRST.take() == Some(task) {
            return other.end();
        }
        self.shard(task).insert(task, other);
    }

    /// The current thread begins to poll a task.
    #[inline]
    pub(crate) fn scheduled(&self, task: Id) {
        if is_watched() {
            self.tell_scheduled(task);
        }
    }

    #[cold]
    fn tell_scheduled(&self, task: Id) {
        let mut shard = self.shard(task);
        let Some(other) = shard.get_mut(&task) else { return };
        other.polls += 1;
        let (pid, number, began) = (other.pid, other.polls, clock::now());
        other.seat.poll_begins(pid.number(), began);
        drop(shard);
        if !is_only_kept!(probes::scheduled) || probes::unscheduled::is_enabled() {
            probes::scheduled(|| (pid, FUNCTION));
            clock::prepare_once();
        }
        change_polls(|polls| polls.push(Poll { task, pid, number, began }));
    }

    /// The current thread has polled a task.
    #[inline]
    pub(crate) fn unscheduled(&self, task: Id) {
        if IS_POLLING.get() {
            self.tell_unscheduled(task);
        }
    }

    #[cold]
    fn tell_unscheduled(&self, task: Id) {
        // Without one, it has ended in the poll.
        let Some(poll) = poll_of(task) else { return };
        if let Some(other) = self.shard(task).get(&task) {
            let took = clock::now().wrapping_sub(poll.began);
            other.seat.poll_ends(poll.pid.number(), took, other.polls == poll.number);
        }
        probes::unscheduled(|| (poll.pid, spent(poll.began), "pending"));
    }

    /// A task has ended, perhaps in its poll.
    pub(crate) fn ended(&self, task: Id) {
        if IS_POLLING.get()
            && let Some(poll) = poll_of(task)
        {
            probes::unscheduled(|| (poll.pid, spent(poll.began), ENDED));
        }
        let other = self.shard(task).remove(&task);
        match other {
            Some(other) => other.end(),
            None => ENDED_FIRST.set(Some(task)),
        }
    }

    /// Nothing panics under this lock.
    fn shard(&self, task: Id) -> MutexGuard<'_, HashMap<Id, Other, BuildHasherDefault<Spread>>> {
        use std::hash::BuildHasher as _;

        let spread = BuildHasherDefault::<Spread>::default().hash_one(task);
        // Other bits than those by which the map finds an entry.
        self.shards[(spread >> 32) as usize % SHARDS].lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A task that another thread ended before its spawn was told has an entry until the end of the runtime.
impl Drop for Others {
    fn drop(&mut self) {
        for shard in &mut self.shards {
            let shard = shard.get_mut().unwrap_or_else(PoisonError::into_inner);
            shard.drain().for_each(|(_, other)| other.end());
        }
    }
}

impl Other {
    fn end(self) {
        probes::exit(|| (self.pid, ENDED));
        self.seat.leave(self.pid.number());
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
fn tell_spawn(pid: Pid, at: &'static Location<'static>) -> Seat {
    let parent = current();
    if !is_only_kept!(probes::spawn) {
        let place = Place::new(at);
        probes::spawn(|| (pid, FUNCTION, parent, place.text(), None::<&str>));
    }
    Seat::take(&Spawned {
        pid: pid.number(),
        is_blocking: false,
        is_counted: true,
        parent: parent.number(),
        function: FUNCTION,
        place: at,
        tag: None,
    })
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

/// A hash of the numbers that tokio gives one after the other.
#[derive(Default)]
struct Spread(u64);

impl Hasher for Spread {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = (self.0 ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}
