//! Tasks that others block, and how.

use anstyle::Style;
use dyntrace_tasks::listing::{Await, SemaphoreOf, Task, WaitsFor};
use dyntrace_tasks::locks::{Blocker, Locks, Through};
use dyntrace_terminal::escape;
use serde::{Serialize, Serializer};

use super::choose::Chosen;
use super::read::Look;
use super::words;

/// The tasks that may block each task, by its header's address. Those of a task are made when they are written.
pub struct Blockers<'l> {
    locks: Locks<'l>,
    tasks: Vec<&'l Task>,
}

impl<'l> Blockers<'l> {
    /// `only`: of these tasks.
    pub fn of(look: &'l Look, only: Option<&Chosen>) -> Blockers<'l> {
        let asked = look.listing.tasks.iter().filter(|task| only.is_none_or(|only| only.has(task, look.row(task))));
        let mut tasks: Vec<&Task> = asked.collect();
        tasks.sort_unstable_by_key(|task| task.address);
        Blockers { locks: Locks::of(&look.listing), tasks }
    }
}

impl Serialize for Blockers<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let of_each = self.tasks.iter().map(|task| (task.address, self.locks.blockers(task)));
        serializer.collect_map(of_each.filter(|(_, blockers)| !blockers.is_empty()))
    }
}

/// Whether `task` waits for a lock or permits.
pub fn is_blocked_by_lock(task: &Task) -> bool {
    let is_lock = |future: &&Await| {
        let Some(WaitsFor::Semaphore { missing: 1.., closed: false, of, .. }) = future.waits_for else { return false };
        of != SemaphoreOf::Channel
    };
    task.stands() && task.leaves().iter().any(is_lock)
}

/// Whether `task` may wait for another task's lock or end, or for a job of dyntrace's pool.
pub fn is_blocked(task: &Task) -> bool {
    use WaitsFor::{File, Job, Join, Semaphore};
    let blocks = |future: &&Await| {
        matches!(future.waits_for, Some(Semaphore { missing: 1.., .. } | Join { .. } | File(_) | Job { .. }))
    };
    task.stands() && task.leaves().iter().any(blocks)
}

pub fn name(task: &Task) -> String {
    let bold = Style::new().bold();
    let tag = words::user_tag(task).map_or(String::new(), |tag| format!(", user tag {tag}"));
    format!("{bold}task {}{bold:#}, {}{tag}: {}", words::id(task), words::state(task), words::future(task))
}

/// How `blocker`, which is called `name`, blocks a task.
pub fn held_by(blocker: &Blocker, name: &str) -> String {
    match &blocker.through {
        Through::Join => name.to_owned(),
        Through::Guard { guard, .. } => {
            let held = if blocker.certain { "held by" } else { "perhaps held by" };
            let variable = escape::name(&guard.variable);
            match &guard.unpolled {
                None => {
                    let taken = words::taken(guard);
                    format!("{held} {name} ({} in {variable}{taken})", words::type_name(&guard.guard))
                }
                Some(_) => format!("{held} {name} (a future in {variable}, which it does not poll)"),
            }
        }
    }
}
