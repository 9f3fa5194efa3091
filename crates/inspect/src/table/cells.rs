//! A table's facts about tasks, in words.

use dyntrace_task_table::TaskEntry;
use dyntrace_terminal::escape;

use super::joined::JoinedTable;
use super::row::{self, known, missing, pid, polls, texts};
use crate::words;

/// For how long the tasks of a group have had their state: from the shortest to the longest time.
pub fn since(kept: &JoinedTable, group: &[&TaskEntry]) -> String {
    range(kept, group.iter().map(|seen| row::since(seen))).unwrap_or_else(missing)
}

/// The wait of a group, whose tasks wait in one operation at one place. `None` if they do not wait.
pub fn wait(kept: &JoinedTable, group: &[&TaskEntry]) -> Option<String> {
    let (operation, _) = texts(group.first()?.wait.as_ref()?.site.as_ref());
    let since = range(kept, group.iter().filter_map(|seen| Some(seen.task.wait?.since)));
    let since = since.map_or_else(String::new, |since| format!(" for {since}"));
    Some(format!("{operation} {}{since}", row::resources(group)))
}

/// Where the tasks of a group wait. `None` if they do not wait.
pub fn place(group: &[&TaskEntry]) -> Option<String> {
    Some(texts(group.first()?.wait.as_ref()?.site.as_ref()).1)
}

/// The same as a part of a sentence: nothing if no place is known, as of file operations.
pub fn at(group: &[&TaskEntry]) -> String {
    let site = group.first().and_then(|seen| seen.wait.as_ref()?.site.as_deref());
    site.and_then(|site| known(&site.second)).map_or_else(String::new, |place| format!(" at {}", escape::name(place)))
}

/// All that the table knows of the tasks of a group, which were spawned at one place.
pub fn line(kept: &JoinedTable, group: &[&TaskEntry]) -> String {
    let waits = wait(kept, group).map(|wait| format!(", waits{} in {wait}", at(group))).unwrap_or_default();
    format!("table: {}{waits}", facts(kept, group))
}

/// The same without their wait.
pub fn facts(kept: &JoinedTable, group: &[&TaskEntry]) -> String {
    let Some(first) = group.first() else { return String::new() };
    let mut parts = vec![row::pids(group)];
    if group.iter().any(|seen| seen.tag.is_some()) {
        parts.push(format!("tag {}", row::tags(group)));
    }
    let (function, place) = texts(first.site.as_ref());
    let by = if group.len() == 1 { format!(" by {}", pid(first.task.parent)) } else { String::new() };
    parts.push(format!("{function} spawned at {place}{by}"));
    parts.push(format!("{} for {}", row::state(first), since(kept, group)));
    let polls = polls(group);
    let (noun, clock) = (if polls == 1 { "poll" } else { "polls" }, kept.clock());
    parts.push(format!("{polls} {noun}, busy {}, longest {}", row::busy(group, clock), row::longest(group, clock)));
    if group.iter().any(|seen| seen.task.woken_by.is_some()) {
        parts.push(format!("woken by {}", row::wakers(group)));
    }
    parts.join(", ")
}

/// The function of a task that is in the table only.
pub fn function(seen: &TaskEntry) -> String {
    seen.site.as_ref().map_or_else(missing, |site| escape::name(&*site.first))
}

/// From the shortest to the longest of these times. `None` without a clock, or without any.
fn range(kept: &JoinedTable, cycles: impl Iterator<Item = u64>) -> Option<String> {
    let ages = cycles.filter_map(|cycle| kept.age(cycle)).map(|age| (age, age));
    between(ages.reduce(|(first, last), (age, _)| (first.min(age), last.max(age))))
}

/// A range of times in words.
pub fn between(range: Option<(u64, u64)>) -> Option<String> {
    let (first, last) = range?;
    let (first, last) = (words::duration(first), words::duration(last));
    Some(if first == last { first } else { format!("{first} to {last}") })
}
