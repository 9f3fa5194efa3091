//! `dyntrace why`: the event for which a task waits, the task that holds or owes it, and so on to the end.

use std::cell::LazyCell;
use std::collections::{HashMap, HashSet};

use anstyle::Style;
use dyntrace_task_table::{Seen, State};
use dyntrace_tasks::coverage::Coverage;
use dyntrace_tasks::listing::{Await, Holder, Listing, SemaphoreOf, Task, WaitsFor};
use dyntrace_tasks::locks::{Blocker, Locks};

use super::answer;
use super::blocked::{by_address, held_by, is_blocked, is_through, name, stands};
use super::choose::Chosen;
use super::fold::{fold, ids, summary};
use super::read::Look;
use super::stuck::Stuck;
use super::table::seen::{self, alike, missing};
use super::{table, words};

/// Tasks followed behind each other, at most.
const DEPTH: usize = 32;

/// Waits shown of tasks that are alike but for these.
const DIFFERENT: usize = 3;

/// Holders shown of one lock.
const HOLDERS: usize = 8;

/// The deadlocks and futurelocks, then all blocked tasks with their blockers, then the others' count, and what was not seen.
pub fn text(look: &Look, stuck: &Stuck, searched: &Coverage) -> String {
    let listing = &look.listing;
    let why = Why::of(look, stuck);
    let mut text = stuck.text(look);
    if !stuck.is_empty() {
        text.push('\n');
    }
    let blocked: Vec<&Task> = listing.tasks.iter().filter(|task| is_blocked(task)).collect();
    let mut told = why.deadlocked.clone();
    // Tasks that block others are told below those. Tasks in a circle with uncertain holders are left over.
    let groups = fold(blocked.iter().copied(), |task| {
        (
            words::state(task),
            words::future(task),
            words::at(task),
            words::leaves(task).into_iter().map(of_lock).collect::<Vec<_>>(),
        )
    });
    let blocking: HashSet<u64> =
        groups.iter().flat_map(|group| why.locks.blockers(group[0])).map(|by| by.address).collect();
    for skips_blocking in [true, false] {
        for group in &groups {
            let skips =
                |task: &Task| told.contains(&task.address) || skips_blocking && blocking.contains(&task.address);
            let group: Vec<&Task> = group.iter().copied().filter(|task| !skips(task)).collect();
            if !group.is_empty() {
                text += &why.of_group(&group, &mut told);
                text.push('\n');
            }
        }
    }
    let by_table = of_table(look, None, stuck);
    text += &by_table;
    text += &if look.has_memory { others(listing, &blocked, !by_table.is_empty(), searched) } else { String::new() };
    text + &answer::line(searched)
}

/// The waits of some tasks.
pub fn text_of(look: &Look, only: &Chosen) -> String {
    let why = Why::of(look, &Stuck::default());
    let tasks = look.listing.tasks.iter().filter(|task| only.has(task, look.row(task)));
    let text: String = tasks.map(|task| why.of_group(&[task], &mut HashSet::new())).collect();
    text + &of_table(look, Some(only), &Stuck::default())
}

/// Lists tasks whose waits only the table tells; tasks that wait for the same resource stand together. With `only`, it lists those of
/// the chosen tasks that are in the table only. Tasks of its deadlocks are told already.
fn of_table(look: &Look, only: Option<&Chosen>, stuck: &Stuck) -> String {
    let Some(kept) = &look.kept else { return String::new() };
    let stuck = pids(stuck);
    let in_memory = look.listing.tasks.iter().filter(|task| only.is_none() && stands(task) && !words::is_told(task));
    let others = kept.others().filter(|seen| only.is_none_or(|only| only.has_of_table(seen)));
    let rows = in_memory.filter_map(|task| look.row(task)).chain(others);
    let rows = rows.filter(|seen| seen.wait.is_some() && !stuck.contains(&seen.task.pid));
    let groups = fold(rows, |seen| (alike(seen).1, seen.wait.as_ref().map(seen::shared)));
    let bold = Style::new().bold();
    let in_memory = LazyCell::new(|| operations(&look.listing));
    let text = |group: &Vec<&Seen>| {
        let (tasks, verb) = (words::counted(group.len(), "task"), if group.len() == 1 { "waits" } else { "wait" });
        let wait = table::wait(kept, group).unwrap_or_else(missing);
        let at = table::at(group);
        let facts = fold(group.iter().copied(), |seen| alike(seen).0);
        let mut lines: Vec<String> = facts.iter().map(|group| table::facts(kept, group)).collect();
        // All wait for the same.
        if let Some(process) = group.first().and_then(|seen| table::awaited(seen)) {
            let mut path = group.iter().map(|seen| seen.task.pid).collect();
            table::follow(kept, process, &stuck, &mut path, "", &mut lines);
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

/// The waits for file operations in memory, by the operations' names in probes.
fn operations(listing: &Listing) -> HashMap<(i32, i32), &Await> {
    let named = |future: &Await| match &future.waits_for {
        Some(WaitsFor::File(operation)) => operation.id.map(|id| (id.thread, id.tag)),
        _ => None,
    };
    let leaves = listing.tasks.iter().flat_map(words::leaves);
    leaves.filter_map(|future| Some((named(future)?, future))).collect()
}

/// The processes of deadlocks that the table tells.
fn pids(stuck: &Stuck) -> HashSet<u64> {
    stuck.table_deadlocks.iter().flat_map(|circle| circle.pids.iter()).collect()
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
        let waits = |task: &&Task| match &words::leaves(task)[..] {
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

struct Why<'l> {
    look: &'l Look,
    locks: Locks<'l>,
    by_address: HashMap<u64, &'l Task>,
    /// Tasks in deadlocks, which are told already, by their addresses.
    deadlocked: HashSet<u64>,
    /// Those in deadlocks of the table, by their pids.
    stuck: HashSet<u64>,
    /// The number of tasks that may hold locks which are not seen.
    unseen: u64,
}

impl<'l> Why<'l> {
    fn of(look: &'l Look, stuck: &Stuck) -> Why<'l> {
        let mut deadlocked: HashSet<u64> =
            stuck.deadlocks.iter().flat_map(|cycle| &cycle.steps).map(|step| step.address).collect();
        let stuck = pids(stuck);
        let is_stuck = |task: &&Task| look.row(task).is_some_and(|seen| stuck.contains(&seen.task.pid));
        deadlocked.extend(look.listing.tasks.iter().filter(is_stuck).map(|task| task.address));
        let unseen = look.searched().unseen();
        Why { look, locks: Locks::of(&look.listing), by_address: by_address(&look.listing), deadlocked, stuck, unseen }
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
        let mut seen = HashSet::new();
        self.follow(group, &mut vec![task.address], &mut seen, "", &mut lines);
        told.extend(group.iter().map(|task| task.address).chain(seen));
        lines.into_iter().map(|line| line + "\n").collect()
    }

    /// Adds a holder that no guard shows, but the lock itself, and the tasks behind it, if the table tells which task it is.
    fn follow_noted(
        &self,
        noted: &Holder,
        path: &mut Vec<u64>,
        seen: &mut HashSet<u64>,
        indent: &str,
        lines: &mut Vec<String>,
    ) {
        let held = format!("{indent}└─ the lock says: {}", self.look.holder(noted));
        match self.in_memory(noted.pid) {
            None => lines.push(held),
            Some(task) => self.follow_one(task, &held, path, seen, indent, lines),
        }
    }

    /// Adds the process that a task waits for by the table, and the tasks behind it.
    fn follow_awaited(
        &self,
        of: &Task,
        awaited: u64,
        path: &mut Vec<u64>,
        seen: &mut HashSet<u64>,
        indent: &str,
        lines: &mut Vec<String>,
    ) {
        match (self.in_memory(awaited), &self.look.kept) {
            (Some(task), _) => {
                let says = format!("{indent}└─ the table says: {}", seen::pid(awaited));
                self.follow_one(task, &says, path, seen, indent, lines);
            }
            (None, Some(kept)) => {
                let mut path = self.look.row(of).map(|seen| seen.task.pid).into_iter().collect();
                table::follow(kept, awaited, &self.stuck, &mut path, indent, lines);
            }
            (None, None) => {}
        }
    }

    /// The task in memory that is this process, if the table tells which one.
    fn in_memory(&self, pid: u64) -> Option<&'l Task> {
        let address = self.look.kept.as_ref()?.task_of(pid)?;
        self.by_address.get(&address).copied()
    }

    /// Adds one task behind another one, after `before`, and the tasks behind it.
    fn follow_one(
        &self,
        task: &'l Task,
        before: &str,
        path: &mut Vec<u64>,
        seen: &mut HashSet<u64>,
        indent: &str,
        lines: &mut Vec<String>,
    ) {
        let told = match task.address {
            address if path.contains(&address) => ", see above: they wait for each other",
            address if self.deadlocked.contains(&address) => ", in the deadlock above",
            address if seen.contains(&address) => ", see above",
            _ => "",
        };
        lines.push(format!("{before}: {}{told}", name(task)));
        if !told.is_empty() || path.len() == DEPTH {
            return;
        }
        lines.extend(self.look.line(&[task]).map(|row| format!("{indent}   {row}")));
        path.push(task.address);
        self.follow(&[task], path, seen, &format!("{indent}   "), lines);
        path.pop();
    }

    /// Adds the waits of tasks that wait for the same, and the tasks behind them. `path`: the tasks from the first one to these.
    fn follow(
        &self,
        group: &[&Task],
        path: &mut Vec<u64>,
        seen: &mut HashSet<u64>,
        indent: &str,
        lines: &mut Vec<String>,
    ) {
        let task = group[0];
        seen.insert(task.address);
        let leaves = words::leaves(task);
        let end = match task.state {
            state if state.complete => Some("is complete: it waits for nothing"),
            state if state.running => Some("runs: it waits for nothing"),
            state if state.notified => Some("was woken, and waits for a thread of the runtime"),
            _ => None,
        };
        if let Some(end) = end {
            lines.push(format!("{indent}{end}"));
            return;
        }
        let awaited = self.look.row(task).filter(|seen| seen.task.state == State::Idle).and_then(table::awaited);
        if leaves.is_empty() {
            lines.push(format!("{indent}waits for {}", words::without_leaves(task)));
            if let Some(awaited) = awaited {
                self.follow_awaited(task, awaited, path, seen, indent, lines);
            }
            return;
        }
        let blockers = self.locks.blockers(task);
        // tasks of a group have the same number of leaves
        let of_each: Vec<_> = group.iter().map(|task| words::leaves(task)).collect();
        for (number, leaf) in leaves.into_iter().enumerate() {
            let alike: Vec<&Await> = of_each.iter().map(|leaves| leaves[number]).collect();
            lines.push(format!("{indent}waits at {}{}", words::at(task), waits_for(&alike)));
            let holders: Vec<&Blocker> = blockers.iter().filter(|blocker| is_through(leaf, blocker)).collect();
            // The note may still be that of the task that had the lock before.
            let noted = words::holder(leaf).filter(|_| !is_granted(leaf));
            if let Some(noted) = noted.filter(|_| holders.is_empty()) {
                self.follow_noted(noted, path, seen, indent, lines);
            } else if let Some(noted) = noted.and_then(|noted| self.look.holder_since(noted)) {
                lines.push(format!("{indent}│  the lock says: {noted}"));
            } else if let Some(awaited) = awaited.filter(|_| is_for_room(leaf) && !is_granted(leaf)) {
                self.follow_awaited(task, awaited, path, seen, indent, lines);
            } else if let Some(unknown) = nobody(leaf, self.unseen).filter(|_| holders.is_empty()) {
                lines.push(format!("{indent}└─ {unknown}"));
            }
            let mut jobs: Vec<String> = alike.iter().filter_map(|leaf| words::job(leaf)).collect();
            jobs.dedup();
            let last = jobs.len().min(DIFFERENT);
            for (number, job) in jobs.into_iter().take(DIFFERENT).enumerate() {
                lines.push(format!("{indent}{} {job}", if number + 1 < last { "├─" } else { "└─" }));
            }
            let more = holders.len().saturating_sub(HOLDERS);
            let shown = holders.len() - more;
            for (number, holder) in holders.into_iter().take(HOLDERS).enumerate() {
                let (first, others) =
                    if number + 1 < shown || more > 0 { ("├─ ", "│  ") } else { ("└─ ", "   ") };
                let next = self.by_address.get(&holder.address);
                let short = format!("task {}", next.map_or(holder.task.to_string(), |task| words::id(task)));
                let by = |name: &str, more: &str| format!("{indent}{first}{}{more}", held_by(holder, name));
                let Some(next) = next else {
                    lines.push(by(&short, ", which is not in the listing: it may have ended"));
                    continue;
                };
                if holder.address == task.address {
                    let unless = if holder.certain { "" } else { ", unless that was dropped before this wait" };
                    lines.push(by("itself", unless));
                } else if path.contains(&holder.address) {
                    lines.push(by(&short, ", see above: they wait for each other"));
                } else if self.deadlocked.contains(&holder.address) {
                    lines.push(by(&name(next), ", in the deadlock above"));
                } else if seen.contains(&holder.address) {
                    lines.push(by(&short, ", see above"));
                } else if path.len() == DEPTH {
                    lines.push(by(&short, &format!("; dyntrace why -p PID {} goes on", holder.task)));
                } else {
                    lines.push(by(&name(next), ""));
                    lines.extend(self.look.line(&[next]).map(|row| format!("{indent}{others}{row}")));
                    path.push(holder.address);
                    self.follow(&[next], path, seen, &format!("{indent}{others}"), lines);
                    path.pop();
                }
            }
            if more > 0 {
                lines.push(format!("{indent}└─ or by one of {more} more tasks"));
            }
        }
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

/// Whether `future` waits for room in a channel, which may be a mailbox.
fn is_for_room(future: &Await) -> bool {
    matches!(&future.waits_for, Some(WaitsFor::Semaphore { of: SemaphoreOf::Channel, .. }))
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
