//! Tasks that wait for each other, by the table: for the end of another task, or for room in its mailbox.

use std::collections::{HashMap, HashSet};

use dyntrace_task_table::{Seen, State, Thing};
use serde::{Serialize, Serializer};

use super::cells::{at, facts, wait};
use super::kept::Kept;
use super::seen::pid;

/// Tasks followed behind each other, at most.
const DEPTH: usize = 32;

/// The other process that a task waits for.
pub fn awaited(seen: &Seen) -> Option<u64> {
    match seen.wait.as_ref()?.resource {
        Thing::Process(pid) if pid != seen.task.pid => Some(pid),
        _ => None,
    }
}

/// The file operation that a task waits for, by its thread and that thread's number for it.
pub fn operation(seen: &Seen) -> Option<(i32, i32)> {
    match seen.wait.as_ref()?.resource {
        Thing::Operation { thread, tag } => Some((thread, tag)),
        _ => None,
    }
}

/// Tasks that wait for each other in a circle.
#[derive(Debug, Clone, Serialize)]
pub struct Circle {
    /// Each one waits for the next one, the last for the first. The lowest pid is first.
    pub pids: Pids,
    /// Whether one of them may also wait for something else: the table has the last wait of each only.
    pub may_end: bool,
}

/// Pids, and when the wait of each began, in cycles.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pids(Vec<(u64, u64)>);

impl Pids {
    /// Without the times.
    pub fn iter(&self) -> impl Iterator<Item = u64> {
        self.0.iter().map(|(pid, _)| *pid)
    }
}

impl Serialize for Pids {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter().map(pid))
    }
}

/// The circles of idle tasks. Each may end, as far as the table tells.
pub fn circles(kept: &Kept) -> Vec<Circle> {
    let idle = kept.table.tasks.iter().filter(|seen| seen.task.state == State::Idle);
    let edges: Vec<(u64, u64, u64)> =
        idle.filter_map(|seen| Some((seen.task.pid, awaited(seen)?, seen.task.wait?.since))).collect();
    let next: HashMap<u64, (u64, u64)> = edges.iter().map(|(pid, awaited, since)| (*pid, (*awaited, *since))).collect();
    let mut done = HashSet::new();
    let mut found = Vec::new();
    for (first, ..) in &edges {
        let (mut path, mut places, mut at) = (Vec::new(), HashMap::new(), *first);
        while let Some((awaited, since)) = next.get(&at)
            && done.insert(at)
        {
            places.insert(at, path.len());
            path.push((at, *since));
            at = *awaited;
        }
        // Otherwise it leads to a task that waits for no other, or to tasks that were followed before.
        if let Some(begin) = places.get(&at) {
            let mut circle = path.split_off(*begin);
            let lowest = circle.iter().enumerate().min_by_key(|(_, step)| **step).map_or(0, |(number, _)| number);
            circle.rotate_left(lowest);
            found.push(Circle { pids: Pids(circle), may_end: true });
        }
    }
    found
}

/// Adds the lines of a process that other tasks wait for, and of those behind it. `path`: the processes before it. `stuck`: those that are
/// told already.
pub fn follow(
    kept: &Kept,
    process: u64,
    stuck: &HashSet<u64>,
    path: &mut Vec<u64>,
    indent: &str,
    lines: &mut Vec<String>,
) {
    let name = pid(process);
    let Some(seen) = kept.by_pid(process) else {
        lines.push(format!("{indent}└─ {name}, which is not in the table: it is a thread, or it has ended"));
        return;
    };
    if path.contains(&process) {
        lines.push(format!("{indent}└─ {name}, see above: they wait for each other"));
    } else if stuck.contains(&process) {
        lines.push(format!("{indent}└─ {name}, in the deadlock above"));
    } else if path.len() >= DEPTH {
        lines.push(format!("{indent}└─ {name}, and so on"));
    } else {
        lines.push(format!("{indent}└─ {}", facts(kept, &[seen])));
        let indent = format!("{indent}   ");
        lines.push(format!("{indent}{}", waits(kept, seen)));
        if let Some(next) = awaited(seen).filter(|_| seen.task.state != State::Running) {
            path.push(process);
            follow(kept, next, stuck, path, &indent, lines);
            path.pop();
        }
    }
}

/// The wait of a task in words.
pub fn waits(kept: &Kept, seen: &Seen) -> String {
    match (seen.task.state, wait(kept, &[seen])) {
        (State::Running, _) => "runs: it waits for nothing".to_owned(),
        (State::Scheduled, _) => "waits for its first poll".to_owned(),
        (State::Idle, None) => "waits for an event that the table does not tell".to_owned(),
        (State::Idle, Some(wait)) => {
            let at = at(&[seen]);
            let own = seen.wait.as_ref().is_some_and(|wait| wait.resource == Thing::Process(seen.task.pid));
            format!("waits{at} in {wait}{}", if own { ", its own mailbox" } else { "" })
        }
    }
}
