//! The table as lines: of each task, or of tasks that are alike together.

use dyntrace_task_table::{Table, TaskEntry};
use dyntrace_terminal::columns;
use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::fold::fold;
use crate::table::row::{alike, at, missing, realtime, since, state, texts};
use crate::table::{TaskGroup, Times, notes};
use crate::words::counted;

const TITLES: [&str; 12] = [
    "TASKS", "PID", "FUNCTION", "PLACE", "TAG", "STATE", "SINCE", "POLLS", "BUSY", "LONGEST POLL", "WOKEN BY",
    "WAITS FOR",
];

/// The lines, and the gaps of the table.
pub fn text(table: &Table, now: i64, each: bool, zone: &TimeZone) -> String {
    let times = Times { clock: table.clock, now };
    let tasks = table.tasks.iter();
    let groups =
        if each { tasks.map(|seen| vec![seen]).collect() } else { fold(tasks, |seen| (alike(seen), state(seen))) };
    // Tasks in lines of their own need no count.
    let from = usize::from(each);
    let mut text = String::new();
    if !groups.is_empty() {
        let titles = TITLES[from..].iter().map(|title| (*title).to_owned()).collect();
        let row = |group: &Vec<&TaskEntry>| row(times, group, zone).into_iter().skip(from).collect();
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

fn row(times: Times, group: &[&TaskEntry], zone: &TimeZone) -> [String; TITLES.len()] {
    let (first, together) = (group[0], TaskGroup::of_all(group, times));
    let (function, place) = texts(first.site.as_ref());
    let earliest = |cycle: Option<u64>| {
        cycle.and_then(|cycle| realtime(times.clock, cycle)).map_or_else(missing, |time| date(time, zone))
    };
    let waits = first.wait.as_ref().map_or_else(missing, |wait| {
        let (operation, _) = texts(wait.site.as_ref());
        let since = earliest(group.iter().filter_map(|seen| Some(seen.task.wait?.since)).min());
        format!("{operation} {}{} since {since}", together.resources(), at(first))
    });
    [
        group.len().to_string(),
        together.pids(),
        function,
        place,
        together.tags(),
        state(first).to_owned(),
        earliest(group.iter().map(|seen| since(seen)).min()),
        together.polls.to_string(),
        together.busy(),
        together.longest(),
        together.wakers(),
        waits,
    ]
}

/// With the date: the program may have ended long ago.
fn date(nanoseconds: i64, zone: &TimeZone) -> String {
    let time = Timestamp::from_nanosecond(nanoseconds.into()).unwrap_or_default();
    zone.to_datetime(time).strftime("%F %H:%M:%S.%6f").to_string()
}
