//! The table as a JSON object. Its tasks are made one after another: a table may have a million.

use dyntrace_task_table::{Clock, Kind, Pair, Seen, Table, Thing, Waits};
use serde::{Serialize, Serializer};

use super::{known, notes, pid, realtime, reference, since, state};
use crate::tasks::look::VERSION;

#[derive(Serialize)]
pub struct Listed<'t> {
    version: u32,
    process: u32,
    #[serde(serialize_with = "tasks")]
    tasks: &'t Table,
    without_slot: u64,
    without_space: u64,
    unsettled: u64,
    damaged_texts: u64,
    cut: u64,
    runtimes: u64,
    counted: u64,
    counted_with_slot: u64,
    counted_ns: Option<i64>,
    notes: Vec<String>,
}

#[derive(Serialize)]
struct Task<'t> {
    pid: String,
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
    waits_for: Option<Wait<'t>>,
}

#[derive(Serialize)]
struct Wait<'t> {
    operation: Option<&'t str>,
    resource: Option<String>,
    place: Option<&'t str>,
    since_ns: Option<i64>,
}

impl<'t> Listed<'t> {
    pub fn of(table: &'t Table) -> Listed<'t> {
        let header = &table.header;
        Listed {
            version: VERSION,
            process: header.process,
            tasks: table,
            without_slot: header.without_slot,
            without_space: header.without_space,
            unsettled: table.unsettled,
            damaged_texts: table.damaged_texts,
            cut: table.cut,
            runtimes: header.runtimes,
            counted: header.counted,
            counted_with_slot: header.counted_with_slot,
            counted_ns: (header.runtimes > 0).then(|| realtime(table.clock, header.counted_at)).flatten(),
            notes: notes(table),
        }
    }
}

fn tasks<S: Serializer>(table: &&Table, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(table.tasks.iter().map(|seen| Task::of(seen, table.clock)))
}

impl<'t> Task<'t> {
    fn of(seen: &'t Seen, clock: Option<Clock>) -> Task<'t> {
        let task = &seen.task;
        let (function, place) = texts(seen.site.as_ref());
        Task {
            pid: pid(task.pid),
            parent: pid(task.parent),
            kind: match task.kind {
                Kind::Future => "future",
                Kind::Blocking => "blocking",
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
            waits_for: seen.wait.as_ref().zip(task.wait).map(|(wait, begun)| Wait::of(wait, clock, begun.since)),
        }
    }
}

impl<'t> Wait<'t> {
    fn of(wait: &'t Waits, clock: Option<Clock>, since: u64) -> Wait<'t> {
        let (operation, place) = texts(wait.site.as_ref());
        let resource = match &wait.resource {
            Thing::Numbered(number) => Some(reference(*number)),
            Thing::Named(name) => texts(name.as_ref()).0.map(str::to_owned),
        };
        Wait { operation, resource, place, since_ns: realtime(clock, since) }
    }
}

fn texts(pair: Option<&Pair>) -> (Option<&str>, Option<&str>) {
    pair.map_or((None, None), |pair| (known(&pair.first), known(&pair.second)))
}
