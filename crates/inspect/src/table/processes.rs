//! Tasks that wait for each other, by the table: for the end of another task, or for room in its mailbox.

use dyntrace_task_table::{State, TaskEntry, Thing};
use dyntrace_tasks::listing::Task;
use dyntrace_tasks::stuck::{Processes, Waiting};

use super::joined::JoinedTable;
use super::row::at;
use super::task_group::TaskGroup;

/// The other process that a task waits for.
pub fn awaited(seen: &TaskEntry) -> Option<u64> {
    match seen.wait.as_ref()?.resource {
        Thing::Process(pid) if pid != seen.task.pid => Some(pid),
        _ => None,
    }
}

/// The file operation that a task waits for, by its thread and that thread's number for it.
pub fn operation(seen: &TaskEntry) -> Option<(i32, i32)> {
    match seen.wait.as_ref()?.resource {
        Thing::Operation { thread, tag } => Some((thread, tag)),
        _ => None,
    }
}

impl Processes for JoinedTable {
    fn of_task(&self, task: &Task) -> Option<u64> {
        JoinedTable::of_task(self, task).map(|seen| seen.task.pid)
    }

    fn task_of(&self, process: u64) -> Option<u64> {
        self.of_tasks.iter().find(|(_, place)| self.at(**place).task.pid == process).map(|(address, _)| *address)
    }

    fn awaited(&self, process: u64) -> Option<Option<u64>> {
        self.by_pid(process).map(|seen| awaited(seen).filter(|_| seen.task.state == State::Idle))
    }

    fn waiting(&self) -> Vec<Waiting> {
        let idle = self.table.tasks.iter().filter(|seen| seen.task.state == State::Idle);
        let waiting = |seen: &TaskEntry| {
            Some(Waiting { process: seen.task.pid, awaits: awaited(seen)?, since: seen.task.wait?.since })
        };
        idle.filter_map(waiting).collect()
    }
}

/// The wait of a task in words.
pub fn waits(kept: &JoinedTable, seen: &TaskEntry) -> String {
    match (seen.task.state, TaskGroup::of(seen, kept.times()).wait()) {
        (State::Running, _) => "runs: it waits for nothing".to_owned(),
        (State::Scheduled, _) => "waits for its first poll".to_owned(),
        (State::Idle, None) => "waits for an event that the table does not tell".to_owned(),
        (State::Idle, Some(wait)) => {
            let at = at(seen);
            let own = seen.wait.as_ref().is_some_and(|wait| wait.resource == Thing::Process(seen.task.pid));
            format!("waits{at} in {wait}{}", if own { ", its own mailbox" } else { "" })
        }
    }
}
