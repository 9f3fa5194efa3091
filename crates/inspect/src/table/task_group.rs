//! A table's facts about tasks that are alike, gathered one task after another.

use dyntrace_task_table::TaskEntry;

use super::joined::Times;
use super::row::{self, PIDS, missing, pid, texts, took};
use crate::different::DifferentItems;
use crate::words;

/// The tasks of a group, without the tasks themselves.
#[derive(Debug)]
pub struct TaskGroup {
    times: Times,
    pub first: TaskEntry,
    pub count: usize,
    /// The first ones.
    pids: Vec<u64>,
    /// For how long they have had their state: the shortest and the longest time, in nanoseconds.
    since: Option<(u64, u64)>,
    /// For how long they have waited.
    waited: Option<(u64, u64)>,
    pub polls: u64,
    busy: u64,
    longest: u64,
    tags: DifferentItems,
    wakers: DifferentItems,
    resources: DifferentItems,
}

impl TaskGroup {
    pub fn of(seen: &TaskEntry, times: Times) -> TaskGroup {
        let mut together = TaskGroup {
            times,
            first: seen.clone(),
            count: 0,
            pids: Vec::new(),
            since: None,
            waited: None,
            polls: 0,
            busy: 0,
            longest: 0,
            tags: DifferentItems::default(),
            wakers: DifferentItems::default(),
            resources: DifferentItems::default(),
        };
        together.add(seen);
        together
    }

    /// All tasks of a group, which is not empty.
    pub fn of_all(group: &[&TaskEntry], times: Times) -> TaskGroup {
        let mut together = TaskGroup::of(group[0], times);
        group[1..].iter().for_each(|seen| together.add(seen));
        together
    }

    pub fn add(&mut self, seen: &TaskEntry) {
        let (task, first) = (&seen.task, &self.first);
        if self.pids.len() < PIDS {
            self.pids.push(task.pid);
        }
        self.count += 1;
        let age = |cycle| self.times.age(cycle).map(|age| (age, age));
        self.since = around(self.since, age(row::since(seen)));
        self.waited = around(self.waited, task.wait.and_then(|wait| age(wait.since)));
        self.polls = self.polls.saturating_add(task.polls);
        self.busy = self.busy.saturating_add(task.busy);
        self.longest = self.longest.max(task.longest as u64);
        if seen.tag != first.tag {
            self.tags.add(&seen.tag);
        }
        if task.woken_by != first.task.woken_by {
            self.wakers.add(&task.woken_by);
        }
        let resource = row::awaited(seen);
        if resource != row::awaited(first) {
            self.resources.add(&resource);
        }
    }

    /// Adds tasks that come after these.
    pub fn append(&mut self, others: TaskGroup) {
        self.pids.extend(others.pids);
        self.pids.truncate(PIDS);
        self.count += others.count;
        self.since = around(self.since, others.since);
        self.waited = around(self.waited, others.waited);
        self.polls = self.polls.saturating_add(others.polls);
        self.busy = self.busy.saturating_add(others.busy);
        self.longest = self.longest.max(others.longest);
        let (first, its_first) = (&self.first, &others.first);
        self.tags.append(others.tags, &first.tag, &its_first.tag);
        self.wakers.append(others.wakers, &first.task.woken_by, &its_first.task.woken_by);
        self.resources.append(others.resources, &row::awaited(first), &row::awaited(its_first));
    }

    /// The first pids.
    pub fn pids(&self) -> String {
        let shown: Vec<String> = self.pids.iter().map(|number| pid(*number)).collect();
        shown.join(", ") + if self.count > PIDS { ", ..." } else { "" }
    }

    pub fn since(&self) -> String {
        between(self.since).unwrap_or_else(missing)
    }

    /// The time of the ended polls together.
    pub fn busy(&self) -> String {
        took(self.busy, self.times.clock)
    }

    /// The longest of the ended polls.
    pub fn longest(&self) -> String {
        took(self.longest, self.times.clock)
    }

    pub fn tags(&self) -> String {
        self.tags.told(row::tag(&self.first))
    }

    pub fn wakers(&self) -> String {
        self.wakers.told(row::woken_by(&self.first).unwrap_or_else(missing))
    }

    pub fn resources(&self) -> String {
        self.resources.told(row::shown_resource(&self.first))
    }

    /// The wait, in one operation at one place. `None` if they do not wait.
    pub fn wait(&self) -> Option<String> {
        let (operation, _) = texts(self.first.wait.as_ref()?.site.as_ref());
        let since = between(self.waited).map_or_else(String::new, |since| format!(" for {since}"));
        Some(format!("{operation} {}{since}", self.resources()))
    }

    /// All that the table knows of the tasks, which were spawned at one place.
    pub fn line(&self) -> String {
        let waits = self.wait().map(|wait| format!(", waits{} in {wait}", row::at(&self.first))).unwrap_or_default();
        format!("table: {}{waits}", self.facts())
    }

    /// The same without their wait.
    pub fn facts(&self) -> String {
        let first = &self.first;
        let mut parts = vec![self.pids()];
        if first.tag.is_some() || self.tags.count() > 1 {
            parts.push(format!("tag {}", self.tags()));
        }
        let (function, place) = texts(first.site.as_ref());
        let by = if self.count == 1 { format!(" by {}", pid(first.task.parent)) } else { String::new() };
        parts.push(format!("{function} spawned at {place}{by}"));
        parts.push(format!("{} for {}", row::state(first), self.since()));
        let (polls, noun) = (self.polls, if self.polls == 1 { "poll" } else { "polls" });
        parts.push(format!("{polls} {noun}, busy {}, longest {}", self.busy(), self.longest()));
        if first.task.woken_by.is_some() || self.wakers.count() > 1 {
            parts.push(format!("woken by {}", self.wakers()));
        }
        parts.join(", ")
    }
}

/// A range of times in words.
fn between(range: Option<(u64, u64)>) -> Option<String> {
    let (first, last) = range?;
    let (first, last) = (words::duration(first), words::duration(last));
    Some(if first == last { first } else { format!("{first} to {last}") })
}

/// The range around two.
fn around(range: Option<(u64, u64)>, other: Option<(u64, u64)>) -> Option<(u64, u64)> {
    match (range, other) {
        (Some((first, last)), Some((begin, end))) => Some((first.min(begin), last.max(end))),
        (one, other) => one.or(other),
    }
}
