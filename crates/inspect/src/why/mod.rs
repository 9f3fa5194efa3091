//! `dyntrace why`: the event for which a task waits, the task that holds or owes it, and so on to the end.

use std::cell::LazyCell;
use std::collections::{HashMap, HashSet};

use anstyle::Style;
use dyntrace_task_table::TaskEntry;
use dyntrace_tasks::coverage::Coverage;
use dyntrace_tasks::listing::{Await, Listing, SemaphoreOf, Task, WaitsFor};
use dyntrace_tasks::stuck::{Processes, Stuck};
use dyntrace_tasks::why::{Behind, By, Then, Wait, Why};

use super::answer;
use super::blocked::{held_by, is_blocked, name};
use super::choose::Chosen;
use super::fold::{fold, ids, summary};
use super::read::Look;
use super::table::TaskGroup;
use super::table::row::{self, alike, at, missing, pid};
use super::{table, words};

/// Waits shown of tasks that are alike but for these.
const DIFFERENT: usize = 3;

/// The deadlocks and futurelocks, then all blocked tasks with their blockers, then the others' count, and what was not seen.
pub fn text(look: &Look, stuck: &Stuck, searched: &Coverage) -> String {
    let listing = &look.listing;
    let tree = Text::of(look, stuck);
    let mut text = super::stuck::text(stuck, look);
    if !stuck.is_empty() {
        text.push('\n');
    }
    let blocked: Vec<&Task> = listing.tasks.iter().filter(|task| is_blocked(task)).collect();
    let mut told = tree.why.deadlocked.clone();
    // Tasks that block others are told below those. Tasks in a cycle with uncertain holders are left over.
    let groups = fold(blocked.iter().copied(), |task| {
        (
            words::state(task),
            words::future(task),
            words::at(task),
            task.leaves().into_iter().map(of_lock).collect::<Vec<_>>(),
        )
    });
    let blocking: HashSet<u64> =
        groups.iter().flat_map(|group| tree.why.locks.blockers(group[0])).map(|by| by.address).collect();
    for skips_blocking in [true, false] {
        for group in &groups {
            let skips =
                |task: &Task| told.contains(&task.address) || skips_blocking && blocking.contains(&task.address);
            let group: Vec<&Task> = group.iter().copied().filter(|task| !skips(task)).collect();
            if !group.is_empty() {
                text += &tree.of_group(&group, &mut told);
                text.push('\n');
            }
        }
    }
    let by_table = tree.of_table(None);
    text += &by_table;
    text += &if look.has_memory { others(listing, &blocked, !by_table.is_empty(), searched) } else { String::new() };
    text + &answer::line(searched)
}

/// The waits of some tasks.
pub fn text_of(look: &Look, only: &Chosen) -> String {
    let tree = Text::of(look, &Stuck::default());
    let tasks = look.listing.tasks.iter().filter(|task| only.has(task, look.row(task)));
    let text: String = tasks.map(|task| tree.of_group(&[task], &mut HashSet::new())).collect();
    text + &tree.of_table(Some(only))
}

/// The waits for file operations in memory, by the operations' names in probes.
fn operations(listing: &Listing) -> HashMap<(i32, i32), &Await> {
    let named = |future: &Await| match &future.waits_for {
        Some(WaitsFor::File(operation)) => operation.id.map(|id| (id.thread, id.tag)),
        _ => None,
    };
    let leaves = listing.tasks.iter().flat_map(Task::leaves);
    leaves.filter_map(|future| Some((named(future)?, future))).collect()
}

/// The wait of a future: equal for all futures that wait for the same lock or task.
fn of_lock(future: &Await) -> (String, Option<u64>) {
    match future.waits_for {
        // the ids of two tasks may be equal, their addresses are not
        Some(WaitsFor::Join { address, .. }) => (words::leaf(future), Some(address)),
        _ => (words::kind(future), None),
    }
}

/// How many tasks wait for something else. `is_told`: whether the table has told of some of them.
fn others(listing: &Listing, blocked: &[&Task], is_told: bool, searched: &Coverage) -> String {
    let count = listing.tasks.len() - blocked.len();
    let mut text = match (blocked.len(), count) {
        _ if is_told => String::new(),
        (0, 0) => return "no task found\n".to_owned(),
        (0, _) if searched.tasks > 0 && searched.seen() == 0 => String::new(),
        (0, _) => {
            let seen = if searched.unknown().is_some() { " that was seen" } else { "" };
            format!("no task{seen} waits for a lock, for another task's end or for a file operation\n")
        }
        _ => String::new(),
    };
    if count > 0 {
        let waits = |task: &&Task| match &task.leaves()[..] {
            _ if task.state.complete => "complete".to_owned(),
            _ if task.state.running => "running".to_owned(),
            _ if task.state.notified => "woken".to_owned(),
            [] => words::without_leaves(task).to_owned(),
            [only] => words::kind(only),
            [first, ..] => format!("{} and others", words::kind(first)),
        };
        let blocked: HashSet<u64> = blocked.iter().map(|task| task.address).collect();
        let rest = listing.tasks.iter().filter(|task| !blocked.contains(&task.address));
        let groups = fold(rest, waits);
        let told: Vec<String> = groups.iter().map(|group| format!("{} x {}", group.len(), waits(&group[0]))).collect();
        text += &format!("{}: {}\n", words::counted(count, "other task"), told.join("; "));
    }
    text
}

/// The tree of waits, as lines.
struct Text<'l> {
    look: &'l Look,
    why: Why<'l>,
    /// The number of tasks that may hold locks which are not seen.
    unseen: u64,
}

impl<'l> Text<'l> {
    fn of(look: &'l Look, stuck: &Stuck) -> Text<'l> {
        let table = look.kept.as_ref().map(|kept| kept as &dyn Processes);
        Text { look, why: Why::of(&look.listing, table, stuck), unseen: look.searched().unseen() }
    }

    /// The lines of tasks that wait for the same. Adds all tasks in them to `told`.
    fn of_group(&self, group: &[&'l Task], told: &mut HashSet<u64>) -> String {
        let task = group[0];
        let head = match group.len() {
            1 => name(task),
            count => {
                let bold = Style::new().bold();
                format!("{bold}{count} tasks{bold:#} ({}), {}: {}", ids(group), words::state(task), words::future(task))
            }
        };
        let mut lines = vec![head];
        lines.extend(self.look.line(group));
        self.waits(task, &self.why.of_tasks(group, told), "", &mut lines);
        lines.into_iter().map(|line| line + "\n").collect()
    }

    /// Adds the waits of a task, and the tasks behind it.
    fn waits(&self, task: &Task, waits: &[Wait<'_>], indent: &str, lines: &mut Vec<String>) {
        let end = match task.state {
            state if state.complete => Some("is complete: it waits for nothing"),
            state if state.running => Some("runs: it waits for nothing"),
            state if state.notified => Some("was woken, and waits for a thread of the runtime"),
            _ => None,
        };
        lines.extend(end.map(|end| format!("{indent}{end}")));
        for wait in waits {
            match wait.futures.first() {
                None => lines.push(format!("{indent}waits for {}", words::without_leaves(task))),
                Some(leaf) => {
                    lines.push(format!("{indent}waits at {}{}", words::at_leaf(task, leaf), waits_for(&wait.futures)));
                }
            }
            let is_blocker = |behind: &&Behind<'_>| matches!(behind.by, By::Blocker(_));
            let (holders, others): (Vec<_>, Vec<_>) = wait.behind.iter().partition(is_blocker);
            others.into_iter().for_each(|behind| self.behind(task, behind, true, indent, lines));
            let leaf = wait.futures.first();
            if wait.behind.is_empty() {
                let nobody = leaf.and_then(|leaf| nobody(leaf, self.unseen));
                lines.extend(nobody.map(|nobody| format!("{indent}└─ {nobody}")));
            }
            // The note may still be that of the task that had the lock before.
            let noted = leaf.filter(|leaf| !holders.is_empty() && !is_granted(leaf)).and_then(|leaf| leaf.holder());
            let noted = noted.and_then(|noted| self.look.holder_since(noted));
            lines.extend(noted.map(|noted| format!("{indent}│  the lock says: {noted}")));
            let mut jobs: Vec<String> = wait.futures.iter().filter_map(|leaf| words::job(leaf)).collect();
            jobs.dedup();
            let last = jobs.len().min(DIFFERENT);
            for (number, job) in jobs.into_iter().take(DIFFERENT).enumerate() {
                lines.push(format!("{indent}{} {job}", if number + 1 < last { "├─" } else { "└─" }));
            }
            let last = holders.len();
            for (number, behind) in holders.into_iter().enumerate() {
                self.behind(task, behind, number + 1 == last && wait.more == 0, indent, lines);
            }
            if wait.more > 0 {
                lines.push(format!("{indent}└─ or by one of {} more tasks", wait.more));
            }
        }
    }

    /// Adds a task behind `waiting`, and those behind it.
    fn behind(&self, waiting: &Task, behind: &Behind<'_>, is_last: bool, indent: &str, lines: &mut Vec<String>) {
        let (first, others) = if is_last { ("└─ ", "   ") } else { ("├─ ", "│  ") };
        let Behind { by, task, then } = behind;
        let told = told(then);
        let line = match (by, task) {
            (By::Table(process), None) => return self.process(*process, then, indent, lines),
            (By::Table(process), Some(task)) => format!("the table says: {}: {}{told}", pid(*process), name(task)),
            (By::Lock(noted), None) => format!("the lock says: {}", self.look.holder(noted)),
            (By::Lock(noted), Some(task)) => {
                format!("the lock says: {}: {}{told}", self.look.holder(noted), name(task))
            }
            (By::Blocker(blocker), task) => {
                let short = || format!("task {}", task.map_or(blocker.task.to_string(), words::id));
                match (then, task) {
                    (Then::Deadlocked | Then::Waits(_), Some(task)) => held_by(blocker, &name(task)) + told,
                    (Then::Above, _) if blocker.address == waiting.address => {
                        let unless = if blocker.certain { "" } else { ", unless that was dropped before this wait" };
                        held_by(blocker, "itself") + unless
                    }
                    (Then::Gone, _) => held_by(blocker, &short()) + ", which is not in the listing: it may have ended",
                    (Then::TooDeep, _) => {
                        held_by(blocker, &short()) + &format!("; dyntrace why -p PID {} goes on", blocker.task)
                    }
                    _ => held_by(blocker, &short()) + told,
                }
            }
        };
        lines.push(format!("{indent}{first}{line}"));
        if let (Then::Waits(waits), Some(task)) = (then, task) {
            let indent = format!("{indent}{others}");
            lines.extend(self.look.line(&[task]).map(|row| format!("{indent}{row}")));
            self.waits(task, waits, &indent, lines);
        }
    }

    /// Adds a process for which others wait by the table, and those behind it.
    fn process(&self, process: u64, then: &Then<'_>, indent: &str, lines: &mut Vec<String>) {
        let found = self.look.kept.as_ref().and_then(|kept| Some((kept, kept.by_pid(process)?)));
        let (Then::Waits(waits), Some((kept, seen))) = (then, found) else {
            let told = match then {
                Then::Gone => ", which is not in the table: it is a thread, or it has ended",
                Then::TooDeep => ", and so on",
                then => told(then),
            };
            return lines.push(format!("{indent}└─ {}{told}", pid(process)));
        };
        lines.push(format!("{indent}└─ {}", TaskGroup::of(seen, kept.times()).facts()));
        let indent = format!("{indent}   ");
        lines.push(format!("{indent}{}", table::waits(kept, seen)));
        for behind in waits.iter().flat_map(|wait| &wait.behind) {
            if let By::Table(process) = behind.by {
                self.process(process, &behind.then, &indent, lines);
            }
        }
    }

    /// Lists tasks whose waits only the table tells; tasks that wait for the same resource stand together. With `only`, it lists those of
    /// the chosen tasks that are in the table only. Tasks of its deadlocks are told already.
    fn of_table(&self, only: Option<&Chosen>) -> String {
        let look = self.look;
        let Some(kept) = &look.kept else { return String::new() };
        let in_memory =
            look.listing.tasks.iter().filter(|task| only.is_none() && task.stands() && !words::is_told(task));
        let others = kept.others().filter(|seen| only.is_none_or(|only| only.has_of_table(seen)));
        let rows = in_memory.filter_map(|task| look.row(task)).chain(others);
        let rows = rows.filter(|seen| seen.wait.is_some() && !self.why.stuck.contains(&seen.task.pid));
        let groups = fold(rows, |seen| (alike(seen).1, row::shared(seen)));
        let bold = Style::new().bold();
        let in_memory = LazyCell::new(|| operations(&look.listing));
        let text = |group: &Vec<&TaskEntry>| {
            let (tasks, verb) = (words::counted(group.len(), "task"), if group.len() == 1 { "waits" } else { "wait" });
            let wait = TaskGroup::of_all(group, kept.times()).wait().unwrap_or_else(missing);
            let at = at(group[0]);
            let facts = fold(group.iter().copied(), |seen| alike(seen).0);
            let mut lines: Vec<String> =
                facts.iter().map(|group| TaskGroup::of_all(group, kept.times()).facts()).collect();
            // All wait for the same.
            if let Some(process) = group.first().and_then(|seen| table::awaited(seen)) {
                let group = group.iter().map(|seen| seen.task.pid).collect();
                let behind = self.why.of_processes(group, process);
                self.process(process, &behind.then, "", &mut lines);
            }
            let waits = group.iter().filter_map(|seen| table::operation(seen));
            for future in waits.filter_map(|operation| in_memory.get(&operation).copied()).take(DIFFERENT) {
                lines.push(format!("└─ by memory: {}", words::leaf(future)));
                lines.extend(words::job(future).map(|job| format!("   └─ {job}")));
            }
            let lines: String = lines.into_iter().map(|line| line + "\n").collect();
            format!("{bold}{tasks}{bold:#} {verb}{at} in {wait}, by the table\n{lines}\n")
        };
        groups.iter().map(text).collect()
    }
}

/// Where a task is told that is not followed.
fn told(then: &Then<'_>) -> &'static str {
    match then {
        Then::Above => ", see above: they wait for each other",
        Then::Deadlocked => ", in the deadlock above",
        Then::Told => ", see above",
        Then::Gone | Then::TooDeep | Then::Waits(_) => "",
    }
}

/// The waits of futures of one kind, one of each task: all times in a range, a few of other different ones.
fn waits_for(futures: &[&Await]) -> String {
    let different = fold(futures, |future| words::leaf(future));
    if different.len() == 1 || matches!(futures[0].waits_for, Some(WaitsFor::Timer { .. })) {
        return format!(" for {}", summary(futures));
    }
    let shown: Vec<String> = different.iter().take(DIFFERENT).map(|group| words::leaf(group[0])).collect();
    let more = if different.len() > DIFFERENT { "; ..." } else { "" };
    format!(", each for one of {}: {}{more}", different.len(), shown.join("; "))
}

/// Whether `future` was given the permits for which it waited: its task goes on.
fn is_granted(future: &Await) -> bool {
    matches!(&future.waits_for, Some(WaitsFor::Semaphore { missing: 0, .. }))
}

/// Explains a wait for a lock or a task if no task is known to hold it.
fn nobody(future: &Await, unseen: u64) -> Option<String> {
    let told = match future.waits_for.as_ref()? {
        WaitsFor::Semaphore { missing: 0, .. } => "it was granted, and the task has not run since",
        WaitsFor::Semaphore { closed: true, .. } => return None,
        WaitsFor::Semaphore { of: SemaphoreOf::Channel, .. } => {
            "the receiver of the channel makes room: which task that is, is not known"
        }
        WaitsFor::Semaphore { .. } if unseen > 0 => {
            return Some(format!("no task that was seen holds it ({unseen} not seen): the holder may also be no task"));
        }
        WaitsFor::Semaphore { .. } => "no task is seen to hold it: the holder may be no task",
        WaitsFor::Join { .. } => "the task is not in the listing: it may have ended",
        _ => return None,
    };
    Some(told.to_owned())
}

#[cfg(test)]
mod tests;
