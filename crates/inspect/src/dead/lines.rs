//! The table as lines: of each task, or of tasks that are alike together.

use dyntrace_task_table::{Table, TaskEntry};
use dyntrace_terminal::columns;
use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::fold::fold;
use crate::table::row::{
    alike, busy, longest, missing, pids, polls, realtime, resources, since, state, tags, texts, wakers,
};
use crate::table::{at, notes};
use crate::words::counted;

const TITLES: [&str; 12] = [
    "TASKS",
    "PID",
    "FUNCTION",
    "PLACE",
    "TAG",
    "STATE",
    "SINCE",
    "POLLS",
    "BUSY",
    "LONGEST POLL",
    "WOKEN BY",
    "WAITS FOR",
];

/// The lines, and the gaps of the table.
pub fn text(table: &Table, each: bool, zone: &TimeZone) -> String {
    let tasks = table.tasks.iter();
    let groups =
        if each { tasks.map(|seen| vec![seen]).collect() } else { fold(tasks, |seen| (alike(seen), state(seen))) };
    // Tasks in lines of their own need no count.
    let from = usize::from(each);
    let mut text = String::new();
    if !groups.is_empty() {
        let titles = TITLES[from..].iter().map(|title| (*title).to_owned()).collect();
        let row = |group: &Vec<&TaskEntry>| row(table, group, zone).into_iter().skip(from).collect();
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

fn row(table: &Table, group: &[&TaskEntry], zone: &TimeZone) -> [String; TITLES.len()] {
    let first = group[0];
    let (function, place) = texts(first.site.as_ref());
    let earliest = |cycle: Option<u64>| {
        cycle.and_then(|cycle| realtime(table.clock, cycle)).map_or_else(missing, |time| date(time, zone))
    };
    let waits = first.wait.as_ref().map_or_else(missing, |wait| {
        let (operation, _) = texts(wait.site.as_ref());
        let since = earliest(group.iter().filter_map(|seen| Some(seen.task.wait?.since)).min());
        format!("{operation} {}{} since {since}", resources(group), at(group))
    });
    [
        group.len().to_string(),
        pids(group),
        function,
        place,
        tags(group),
        state(first).to_owned(),
        earliest(group.iter().map(|seen| since(seen)).min()),
        polls(group).to_string(),
        busy(group, table.clock),
        longest(group, table.clock),
        wakers(group),
        waits,
    ]
}

/// With the date: the program may have ended long ago.
fn date(nanoseconds: i64, zone: &TimeZone) -> String {
    let time = Timestamp::from_nanosecond(nanoseconds.into()).unwrap_or_default();
    zone.to_datetime(time).strftime("%F %H:%M:%S.%6f").to_string()
}
