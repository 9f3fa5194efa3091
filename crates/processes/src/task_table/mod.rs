//! The table of tasks: a mapped file that other processes read ([`dyntrace_task_table`] has its layout and the lock of a slot).
//!
//! There is none until the program asks for it ([`start`]). A task has a slot from its spawn to its end. Only the thread that spawns, polls
//! or drops the task writes the slot, so writers take no lock. One word is an exception: the beginning of a wait. The thread that polls or
//! drops the future of the wait clears it, also if the future is no longer in that task. A poll is also in a cell of its thread
//! (`present::polls`). Two locks, neither of which a poll takes, guard the list of free slots and the texts; a thread finds its last texts again without.
//!
//! A forked child has no table: the kernel wipes `present::program::TABLE` in it. A task that the child continues finds that at the
//! end of its poll, and writes nothing. If the child starts a table of its own, slots of its parent's tasks are other tasks' there: so each change first
//! compares the slot's pid.
//!
//! Tasks that other code spawns have no slots. Runtimes count theirs (`present::counting`), so that readers know how many those are.

#[cfg_attr(not(recorded), path = "absent.rs")]
mod present;

use std::panic::Location;

pub use present::*;

/// A task that begins.
pub struct Spawned<'s> {
    /// The number in its pid.
    pub pid: u64,
    /// Whether it is a closure for blocking work.
    pub is_blocking: bool,
    /// Whether a runtime counts it as one of its tasks.
    pub is_counted: bool,
    /// Its task of tokio. `None` until its first poll.
    pub task: Option<tokio::task::Id>,
    /// The number in the pid of the process that spawns it.
    pub parent: u64,
    /// Its function.
    pub function: &'static str,
    /// Where it is spawned.
    pub place: &'static Location<'static>,
    /// Its user tag.
    pub tag: Option<&'s str>,
}

/// A wait that begins.
#[derive(Clone, Copy)]
pub struct Begun {
    /// The number in the pid of the process that waits.
    pub pid: u64,
    /// The operation.
    pub kind: &'static str,
    /// Where the process waits, if that is known.
    pub place: Option<&'static Location<'static>>,
    /// The thing that it waits for.
    pub resource: Resource,
    /// When the wait began, in cycles.
    pub since: u64,
}

/// The thing that a process waits for.
#[derive(Clone, Copy)]
pub enum Resource {
    /// A resource, by its number.
    Numbered(u64),
    /// A thing with a name.
    Named(&'static str),
    /// A process, by the number in its pid.
    Process(u64),
    /// A file operation.
    Operation(Operation),
}

/// The name of a file operation in probes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation {
    /// The number of the thread that asked for it.
    pub thread: i32,
    /// That thread's number for it.
    pub tag: i32,
}
