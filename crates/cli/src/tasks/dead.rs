//! `dyntrace ps --dead`: the tasks in a table that a program keeps, or has left behind.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context as _;
use dyntrace_task_table::{Clock, Error, Kind, Pair, Seen, State, Table, Thing, Waits};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::Serialize;

use super::look::{VERSION, print};
use super::words::counted;
use crate::columns;
use crate::escape;
use crate::exit::{Failure, Outcome};

/// A table as JSON has it.
#[derive(Debug, Serialize)]
struct Listed {
    version: u32,
    process: u32,
    tasks: Vec<Task>,
    without_slot: u64,
    without_space: u64,
    unsettled: u64,
    damaged_texts: u64,
    cut: u64,
    notes: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Task {
    pid: String,
    parent: String,
    kind: &'static str,
    function: Option<String>,
    place: Option<String>,
    tag: Option<String>,
    state: &'static str,
    since_ns: Option<i64>,
    spawned_ns: Option<i64>,
    thread: Option<u32>,
    polls: u64,
    busy_ns: Option<u64>,
    longest_ns: Option<u64>,
    waits_for: Option<Wait>,
}

#[derive(Debug, Serialize)]
struct Wait {
    operation: Option<String>,
    resource: Option<String>,
    place: Option<String>,
    since_ns: Option<i64>,
}

pub fn ps(path: &Path, as_json: bool) -> Outcome {
    let listed = Listed::of(read(path)?);
    print(&if as_json {
        serde_json::to_string_pretty(&listed).context("cannot make JSON")? + "\n"
    } else {
        text(&listed, &TimeZone::system())
    })?;
    Ok(ExitCode::SUCCESS)
}

fn read(path: &Path) -> Result<Table, Failure> {
    let table = open(path).map_err(Error::Read).and_then(|file| Table::read(&file));
    let shown = escape::path(path);
    Ok(table.with_context(|| format!("cannot read the table of tasks {shown}"))?)
}

/// Without waiting for a writer of a pipe.
fn open(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new().read(true).custom_flags(nix::fcntl::OFlag::O_NONBLOCK.bits()).open(path)?;
    let is_file = file.metadata()?.is_file();
    if is_file { Ok(file) } else { Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no regular file")) }
}

impl Listed {
    fn of(mut table: Table) -> Listed {
        table.tasks.sort_by_key(|seen| seen.task.pid);
        let (header, notes) = (table.header, notes(&table));
        Listed {
            version: VERSION,
            process: header.process,
            tasks: table.tasks.iter().map(|seen| Task::of(seen, table.clock)).collect(),
            without_slot: header.without_slot,
            without_space: header.without_space,
            unsettled: table.unsettled,
            damaged_texts: table.damaged_texts,
            cut: table.cut,
            notes,
        }
    }
}

/// The gaps of the table.
fn notes(table: &Table) -> Vec<String> {
    let header = &table.header;
    let told = |count: u64, is: &str| (count > 0).then(|| format!("{count} {is}"));
    let full = format!("tasks are missing: they found no slot in the table, which has {} at most", header.limit);
    let no_clock = "the program was killed while it wrote its clock: there are no times";
    [
        told(header.without_slot, &full),
        told(header.without_space, "texts are missing: functions, places, tags or names found no space"),
        told(table.unsettled, "slots are left out: they were changing, or the program was killed while they changed"),
        told(table.damaged_texts, "texts are damaged"),
        told(table.cut, "slots are missing: the file is cut"),
        table.clock.is_none().then(|| no_clock.to_owned()),
    ]
    .into_iter()
    .flatten()
    .collect()
}

impl Task {
    fn of(seen: &Seen, clock: Option<Clock>) -> Task {
        let task = &seen.task;
        let (state, since) = match task.state {
            State::Scheduled => ("scheduled", task.spawned),
            State::Running => ("running", task.scheduled),
            // Its last poll ended then.
            State::Idle => ("idle", task.scheduled.saturating_add(task.last as u64)),
        };
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
            tag: seen.tag.as_deref().map(str::to_owned),
            state,
            since_ns: realtime(clock, since),
            spawned_ns: realtime(clock, task.spawned),
            thread: (task.thread != 0).then_some(task.thread),
            polls: task.polls,
            busy_ns: clock.map(|clock| clock.nanoseconds(task.busy)),
            longest_ns: clock.map(|clock| clock.nanoseconds(task.longest as u64)),
            waits_for: seen.wait.as_ref().zip(task.wait).map(|(wait, begun)| Wait::of(wait, clock, begun.since)),
        }
    }
}

impl Wait {
    fn of(wait: &Waits, clock: Option<Clock>, since: u64) -> Wait {
        let (operation, place) = texts(wait.site.as_ref());
        let resource = match &wait.resource {
            Thing::Numbered(number) => Some(format!("#Ref<0.{number}>")),
            Thing::Named(name) => texts(name.as_ref()).0,
        };
        Wait { operation, resource, place, since_ns: realtime(clock, since) }
    }
}

fn pid(number: u64) -> String {
    format!("<0.{number}.0>")
}

fn texts(pair: Option<&Pair>) -> (Option<String>, Option<String>) {
    let text = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    pair.map_or((None, None), |pair| (text(&pair.first), text(&pair.second)))
}

/// `None` without a clock, or for a time that no clock shows.
fn realtime(clock: Option<Clock>, cycle: u64) -> Option<i64> {
    clock.and_then(|clock| i64::try_from(clock.realtime(cycle)).ok())
}

const TITLES: [&str; 10] =
    ["PID", "FUNCTION", "PLACE", "TAG", "STATE", "SINCE", "POLLS", "BUSY", "LONGEST POLL", "WAITS FOR"];

/// A line for each task, and the gaps.
fn text(listed: &Listed, zone: &TimeZone) -> String {
    let mut text = String::new();
    if !listed.tasks.is_empty() {
        let rows: Vec<_> =
            std::iter::once(TITLES.map(str::to_owned)).chain(listed.tasks.iter().map(|task| row(task, zone))).collect();
        for line in columns::aligned(&rows, |column| column == 6) {
            text += line.trim_end();
            text.push('\n');
        }
    }
    text += &format!("{} in the table of process {}\n", counted(listed.tasks.len(), "task"), listed.process);
    for note in &listed.notes {
        text += &format!("note: {note}\n");
    }
    text
}

fn row(task: &Task, zone: &TimeZone) -> [String; TITLES.len()] {
    let shown = |text: &Option<String>| text.as_deref().map_or_else(|| "-".to_owned(), escape::name);
    let time = |since: Option<i64>| since.map_or_else(|| "-".to_owned(), |since| date(since, zone));
    let took =
        |time: Option<u64>| time.map_or_else(|| "-".to_owned(), |time| format!("{:.1?}", Duration::from_nanos(time)));
    let waits = task.waits_for.as_ref().map_or_else(
        || "-".to_owned(),
        |wait| {
            let [operation, resource, place] = [&wait.operation, &wait.resource, &wait.place].map(shown);
            format!("{operation} {resource} at {place} since {}", time(wait.since_ns))
        },
    );
    [
        task.pid.clone(),
        shown(&task.function),
        shown(&task.place),
        shown(&task.tag),
        task.state.to_owned(),
        time(task.since_ns),
        task.polls.to_string(),
        took(task.busy_ns),
        took(task.longest_ns),
        waits,
    ]
}

/// With the date: the program may have ended long ago.
fn date(nanoseconds: i64, zone: &TimeZone) -> String {
    let time = Timestamp::from_nanosecond(nanoseconds.into()).unwrap_or_default();
    zone.to_datetime(time).strftime("%F %H:%M:%S.%6f").to_string()
}
