//! The processes in a set of tasks.

use std::collections::{BTreeSet, HashMap};

use tokio::task::{Id, JoinError};

use crate::process::Pid;
use crate::waiting::is_watched;

/// The processes of tasks that were started while a tracer or the table of tasks looked at waits, until they are joined. Nobody else has
/// to know them, so others cost nothing.
#[derive(Default)]
pub(super) struct Members {
    by_task: HashMap<Id, Pid>,
    /// In the order of their starts.
    pids: BTreeSet<Pid>,
}

impl Members {
    /// Adds a task that has started.
    #[inline]
    pub(super) fn add(&mut self, task: Id, pid: Pid) {
        if is_watched() {
            self.keep(task, pid);
        }
    }

    #[cold]
    fn keep(&mut self, task: Id, pid: Pid) {
        self.by_task.insert(task, pid);
        self.pids.insert(pid);
    }

    /// Removes the task of this outcome.
    #[inline]
    pub(super) fn joined<T>(&mut self, outcome: Option<&Result<(Id, T), JoinError>>) {
        if !self.by_task.is_empty()
            && let Some(outcome) = outcome
        {
            self.remove(outcome.as_ref().map_or_else(|error| error.id(), |(task, _)| *task));
        }
    }

    #[cold]
    fn remove(&mut self, task: Id) {
        if let Some(pid) = self.by_task.remove(&task) {
            self.pids.remove(&pid);
        }
    }

    /// Forgets all.
    pub(super) fn clear(&mut self) {
        self.by_task.clear();
        self.pids.clear();
    }

    /// The process that was started first. `None` if none is known.
    pub(super) fn first(&self) -> Option<Pid> {
        self.pids.first().copied()
    }
}
