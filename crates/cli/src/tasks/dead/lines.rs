//! The table as lines: of each task, or of tasks that are alike together.

use std::sync::Arc;
use std::time::Duration;

use dyntrace_task_table::{Pair, Seen, Table, Texted, Thing, Waits};
use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::{known, notes, pid, realtime, reference, since, state};
use crate::columns;
use crate::escape;
use crate::tasks::fold::fold;
use crate::tasks::words::counted;

/// Pids shown of many.
const PIDS: usize = 3;

const TITLES: [&str; 11] =
    ["TASKS", "PID", "FUNCTION", "PLACE", "TAG", "STATE", "SINCE", "POLLS", "BUSY", "LONGEST POLL", "WAITS FOR"];

/// The lines, and the gaps of the table.
pub fn text(table: &Table, each: bool, zone: &TimeZone) -> String {
    let tasks = table.tasks.iter();
    let groups = if each { tasks.map(|seen| vec![seen]).collect() } else { fold(tasks, |seen| alike(seen)) };
    // Tasks in lines of their own need no count.
    let from = usize::from(each);
    let mut text = String::new();
    if !groups.is_empty() {
        let titles = TITLES[from..].iter().map(|title| (*title).to_owned()).collect();
        let row = |group: &Vec<&Seen>| row(table, group, zone).into_iter().skip(from).collect();
        let rows: Vec<Vec<String>> = std::iter::once(titles).chain(groups.iter().map(row)).collect();
        for line in columns::aligned(&rows, |column| [0, 7].contains(&(column + from))) {
            text += line.trim_end();
            text.push('\n');
        }
    }
    text += &format!("{} in the table of process {}\n", counted(table.tasks.len(), "task"), table.header.process);
    text += &others(table, zone).unwrap_or_default();
    for note in notes(table) {
        text += &format!("note: {note}\n");
    }
    text
}

/// How many tasks the table lacks, if runtimes count theirs.
fn others(table: &Table, zone: &TimeZone) -> Option<String> {
    let header = &table.header;
    if header.runtimes == 0 {
        return None;
    }
    let counted = counted(usize::try_from(header.counted).unwrap_or(usize::MAX), "task");
    let at = realtime(table.clock, header.counted_at).map_or_else(missing, |time| date(time, zone));
    Some(match header.counted_with_slot {
        known if known < header.counted => {
            format!(
                "others: not seen; the runtimes counted {counted}, of which {known} are in the table (as of {at})\n"
            )
        }
        _ => format!("others: none; the runtimes counted {counted}, all of them in the table (as of {at})\n"),
    })
}

/// By their addresses: tasks share the texts of a place.
type Texts = Option<*const Texted>;

/// Tasks of which all this is the same are alike: they were spawned at one place, and wait at one.
fn alike(seen: &Seen) -> (Texts, &'static str, Option<Texts>) {
    let texts = |pair: &Option<Pair>| pair.as_ref().map(Arc::as_ptr);
    (texts(&seen.site), state(seen), seen.wait.as_ref().map(|wait| texts(&wait.site)))
}

fn row(table: &Table, group: &[&Seen], zone: &TimeZone) -> [String; TITLES.len()] {
    let first = group[0];
    let (function, place) = texts(first.site.as_ref());
    let pids: Vec<String> = group.iter().take(PIDS).map(|seen| pid(seen.task.pid)).collect();
    let tasks = || group.iter().map(|seen| &seen.task);
    let took = |cycles: u64| {
        table.clock.map_or_else(missing, |clock| format!("{:.1?}", Duration::from_nanos(clock.nanoseconds(cycles))))
    };
    let earliest = |cycle: Option<u64>| {
        cycle.and_then(|cycle| realtime(table.clock, cycle)).map_or_else(missing, |time| date(time, zone))
    };
    let waits = first.wait.as_ref().map_or_else(missing, |wait| {
        let (operation, place) = texts(wait.site.as_ref());
        let resource =
            same(group.iter().filter_map(|seen| Some(resource(seen.wait.as_ref()?))), |resource| match resource {
                Resource::Numbered(number) => reference(number),
                Resource::Named(name) => name.map_or_else(missing, escape::name),
            });
        let since = earliest(tasks().filter_map(|task| task.wait.map(|wait| wait.since)).min());
        format!("{operation} {resource} at {place} since {since}")
    });
    [
        group.len().to_string(),
        pids.join(", ") + if group.len() > PIDS { ", ..." } else { "" },
        function,
        place,
        same(group.iter().map(|seen| seen.tag.as_deref()), |tag| tag.map_or_else(missing, escape::name)),
        state(first).to_owned(),
        earliest(group.iter().map(|seen| since(seen)).min()),
        tasks().map(|task| task.polls).fold(0, u64::saturating_add).to_string(),
        took(tasks().map(|task| task.busy).fold(0, u64::saturating_add)),
        took(tasks().map(|task| task.longest as u64).max().unwrap_or(0)),
        waits,
    ]
}

/// The thing of all as `shown` has it, or how many different ones there are.
fn same<T: Ord>(things: impl Iterator<Item = T>, shown: impl Fn(T) -> String) -> String {
    let mut different: Vec<T> = things.collect();
    different.sort_unstable();
    different.dedup();
    match different.len() {
        1 => different.pop().map(shown).unwrap_or_default(),
        number => format!("({number} different)"),
    }
}

/// A resource, by its number or its name.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Resource<'t> {
    Numbered(u64),
    Named(Option<&'t str>),
}

fn resource(wait: &Waits) -> Resource<'_> {
    match &wait.resource {
        Thing::Numbered(number) => Resource::Numbered(*number),
        Thing::Named(name) => Resource::Named(name.as_ref().and_then(|name| known(&name.first))),
    }
}

fn texts(pair: Option<&Pair>) -> (String, String) {
    let shown = |text: &str| known(text).map_or_else(missing, escape::name);
    pair.map_or_else(|| (missing(), missing()), |pair| (shown(&pair.first), shown(&pair.second)))
}

fn missing() -> String {
    "-".to_owned()
}

/// With the date: the program may have ended long ago.
fn date(nanoseconds: i64, zone: &TimeZone) -> String {
    let time = Timestamp::from_nanosecond(nanoseconds.into()).unwrap_or_default();
    zone.to_datetime(time).strftime("%F %H:%M:%S.%6f").to_string()
}
