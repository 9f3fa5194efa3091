//! A task of a table as a JSON object.

use dyntrace_task_table::{Clock, Pair, TaskEntry, TaskKind, Waits};
use serde::Serialize;

use super::row::{known, pid, realtime, resource_name, since, state, woken_by};

/// A task of a table.
#[derive(Serialize)]
pub struct Task<'t> {
    pid: String,
    id: Option<u32>,
    parent: String,
    kind: &'static str,
    function: Option<&'t str>,
    place: Option<&'t str>,
    tag: Option<&'t str>,
    state: &'static str,
    since_ns: Option<i64>,
    spawned_ns: Option<i64>,
    thread: Option<u32>,
    polls: u64,
    busy_ns: Option<u64>,
    longest_ns: Option<u64>,
    woken_by: Option<String>,
    waits_for: Option<Wait<'t>>,
}

#[derive(Serialize)]
struct Wait<'t> {
    operation: Option<&'t str>,
    resource: Option<String>,
    place: Option<&'t str>,
    since_ns: Option<i64>,
}

impl<'t> Task<'t> {
    pub fn of(seen: &'t TaskEntry, clock: Option<Clock>) -> Task<'t> {
        let task = &seen.task;
        let (function, place) = texts(seen.site.as_ref());
        Task {
            pid: pid(task.pid),
            id: (task.id != 0).then_some(task.id),
            parent: pid(task.parent),
            kind: match task.kind {
                TaskKind::Future => "future",
                TaskKind::Blocking => "blocking",
            },
            function,
            place,
            tag: seen.tag.as_deref(),
            state: state(seen),
            since_ns: realtime(clock, since(seen)),
            spawned_ns: realtime(clock, task.spawned),
            thread: (task.thread != 0).then_some(task.thread),
            polls: task.polls,
            busy_ns: clock.map(|clock| clock.nanoseconds(task.busy)),
            longest_ns: clock.map(|clock| clock.nanoseconds(task.longest as u64)),
            woken_by: woken_by(seen),
            waits_for: seen.wait.as_ref().zip(task.wait).map(|(wait, begun)| Wait::of(wait, clock, begun.since)),
        }
    }
}

impl<'t> Wait<'t> {
    fn of(wait: &'t Waits, clock: Option<Clock>, since: u64) -> Wait<'t> {
        let (kind, place) = texts(wait.site.as_ref());
        Wait { operation: kind, resource: resource_name(wait), place, since_ns: realtime(clock, since) }
    }
}

fn texts(pair: Option<&Pair>) -> (Option<&str>, Option<&str>) {
    pair.map_or((None, None), |pair| (known(&pair.first), known(&pair.second)))
}
