//! The entries of tasks, by tokio's ids.

use std::cell::Cell;
use std::collections::HashMap;
use std::hash::{BuildHasher as _, BuildHasherDefault, Hasher};
use std::sync::{Mutex, MutexGuard, PoisonError};

use dyntrace_probes::forks;
use tokio::task::{Id, try_id};

use crate::process::Pid;
use crate::process::pid_filter::has_polled_runtime_tasks;
use crate::reentry::unless_inside;
use crate::task_table::TaskSlot;

/// A task, until its end.
pub(super) struct Entry {
    /// The number of its runtime.
    pub runtime: u64,
    pub pid: Pid,
    pub slot: TaskSlot,
}

/// The part of an entry that a thread remembers. A task keeps it until its end, and no other task has its id.
#[derive(Clone, Copy)]
struct PolledTask {
    task: Option<Id>,
    /// `None` for a task that tells its life itself. An entry is there before the first poll.
    entry: Option<(Pid, TaskSlot)>,
}

/// A power of two.
const POLLED_TASKS: usize = 64;

type Entries = HashMap<Id, Entry, BuildHasherDefault<Spread>>;

/// A power of two.
const SHARDS: usize = 8;

static TASKS: [Mutex<Entries>; SHARDS] =
    [const { Mutex::new(HashMap::with_hasher(BuildHasherDefault::new())) }; SHARDS];

thread_local! {
    /// The tasks that this thread has polled, by some bits of their ids: a newer one takes the place of an older one.
    static POLLED: [Cell<PolledTask>; POLLED_TASKS] = const { [const { Cell::new(PolledTask::NONE) }; POLLED_TASKS] };
    /// Whether this thread has, or waits for, the lock of a shard.
    static IS_INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// The pid of the running task, if it has an entry. A thread that has polled no such task does not ask tokio, whose value of the thread
/// registers a destructor at first.
pub(in crate::process) fn pid_of_running() -> Option<Pid> {
    let task = has_polled_runtime_tasks().then(try_id)??;
    with(task, |tasks| tasks.get(&task).map(|entry| entry.pid)).flatten()
}

impl PolledTask {
    const NONE: PolledTask = PolledTask { task: None, entry: None };
}

/// The pid and the slot of a task that this thread polls, if it has an entry. Not for signal handlers.
pub(super) fn of_polled(task: Id) -> Option<(Pid, TaskSlot)> {
    POLLED.with(|polled| {
        let polled = &polled[(spread(task) >> (u64::BITS - POLLED_TASKS.ilog2())) as usize];
        let last = polled.get();
        if last.task == Some(task) {
            return last.entry;
        }
        let entry = with(task, |tasks| tasks.get(&task).map(|entry| (entry.pid, entry.slot)))?;
        polled.set(PolledTask { task: Some(task), entry });
        entry
    })
}

fn spread(task: Id) -> u64 {
    BuildHasherDefault::<Spread>::default().hash_one(task)
}

/// Changes the entries among which that of `task` is. `None` in a signal handler that has interrupted this. `change` must not run code of
/// the program.
pub(super) fn with<R>(task: Id, change: impl FnOnce(&mut Entries) -> R) -> Option<R> {
    // Other bits than those by which the map finds an entry.
    inside(|| change(&mut lock((spread(task) >> 32) as usize % SHARDS)))
}

/// Takes all entries of a runtime.
pub(super) fn take_all(runtime: u64) -> Vec<Entry> {
    let of_shard = |shard| inside(|| lock(shard).extract_if(|_, entry| entry.runtime == runtime).collect::<Vec<_>>());
    (0..SHARDS).filter_map(of_shard).flatten().map(|(_, entry)| entry).collect()
}

fn inside<R>(act: impl FnOnce() -> R) -> Option<R> {
    unless_inside(&IS_INSIDE, act)
}

/// Nothing panics under this lock.
fn lock(shard: usize) -> MutexGuard<'static, Entries> {
    TASKS[shard].lock().unwrap_or_else(PoisonError::into_inner)
}

/// Has forked children find the locks free.
pub(super) fn hold_across_forks() {
    macro_rules! hold {
        ($($shard:literal)*) => {
            const _: () = assert!(SHARDS == [$($shard),*].len());
            $(forks::hold_across_forks!(Entries, lock($shard));)*
        };
    }
    hold!(0 1 2 3 4 5 6 7);
}

/// A hash of the numbers that tokio gives one after the other.
#[derive(Default)]
pub(super) struct Spread(u64);

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
