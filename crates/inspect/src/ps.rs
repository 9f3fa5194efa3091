//! `dyntrace ps`: a line for each task, or for tasks that are alike.

use std::borrow::Cow;
use std::collections::HashMap;

use dyntrace_tasks::coverage::Coverage;
use dyntrace_tasks::listing::{Runtime, Task};
use dyntrace_terminal::columns::{self, Narrow};
use dyntrace_terminal::escape;

use super::answer;
use super::groups::{Group, Groups, NAME, Tasks, outside};
use super::read::Look;
use super::table::row;
use super::table::{self, Counts, JoinedTable};
use super::words;

/// Characters of a task's waits.
const WAITS: usize = 100;

/// Leaves named in a line.
const LEAVES: usize = 3;

/// How the table fits a terminal.
const NARROW: Narrow<'_> = Narrow {
    spare: &["SPAWNED AT", "WOKEN BY", "LONGEST POLL", "BUSY", "POLLS"],
    going: &["TAG", "PID", "AT", "SINCE", "ID"],
    from_the_start: &["AT", "SPAWNED AT"],
};

/// Ends cells that are from the program's table, in columns that are else from its memory.
const OF_TABLE: &str = " *";

/// The lines of all tasks, `each` in one of its own, and the foot. Lines are at most as long as a terminal of that width has room for.
pub fn text(look: &Look, each: bool, width: Option<usize>) -> String {
    let times = look.kept.as_ref().map(JoinedTable::times);
    let rows = if each {
        let in_memory = look.listing.tasks.iter().map(|task| Group::of(Cow::Borrowed(task), look.row(task), times));
        rows(
            in_memory.chain(look.others().map(|(kept, seen)| Group::of_row(seen, kept.times()))),
            times.is_some(),
            each,
        )
    } else {
        let mut groups = Groups::default();
        look.listing.tasks.iter().for_each(|task| groups.add(Cow::Borrowed(task), look.row(task), times));
        look.others().for_each(|(kept, seen)| groups.add_row(seen, kept.times()));
        rows(groups.list().iter(), times.is_some(), each)
    };
    let mut totals = Totals::default();
    look.listing.tasks.iter().for_each(|task| totals.add(task));
    let counts = if look.has_memory { totals.text(&look.listing.runtimes) } else { String::new() };
    drawn(rows, width) + &foot(counts, look.kept.as_ref().map(|kept| &kept.counts), &look.told(), &look.notes())
}

/// The rows of groups, below the titles.
pub fn rows<'l>(groups: impl Iterator<Item = impl AsRef<Group<'l>>>, has_table: bool, each: bool) -> Vec<Vec<String>> {
    let mut rows = vec![titles(has_table, each)];
    rows.extend(groups.map(|group| row(group.as_ref(), has_table, each)));
    // Most programs do not record it.
    if rows.iter().skip(1).all(|row| row.last().is_none_or(|spawned| spawned == "-")) {
        rows.iter_mut().for_each(|row| row.truncate(row.len() - 1));
    }
    rows
}

/// The lines of rows, below the titles.
pub fn drawn(mut rows: Vec<Vec<String>>, width: Option<usize>) -> String {
    if let Some(width) = width {
        columns::fit(&mut rows, width, &NARROW);
    }
    let is_number = |column: usize| ["TASKS", "POLLS"].contains(&&*rows[0][column]) || column == 0;
    if rows.len() == 1 { String::new() } else { lines(&columns::aligned(&rows, is_number)) }
}

fn titles(has_table: bool, each: bool) -> Vec<String> {
    let titles: &[&str] = match has_table {
        false => &["TASKS", "ID", "STATE", "FUTURE", "AT", "WAITS FOR", "SPAWNED AT"],
        true => &[
            "TASKS", "ID", "PID", "STATE", "SINCE", "FUTURE", "TAG", "AT", "POLLS", "BUSY", "LONGEST POLL", "WOKEN BY",
            "WAITS FOR", "SPAWNED AT",
        ],
    };
    titles[usize::from(each)..].iter().map(|title| (*title).to_owned()).collect()
}

fn lines(lines: &[String]) -> String {
    lines.iter().map(|line| line.trim_end().to_owned() + "\n").collect()
}

/// The row of tasks that are alike: in memory, in the program's table, or in both.
fn row(group: &Group<'_>, has_table: bool, each: bool) -> Vec<String> {
    let (tasks, seen) = (group.tasks.as_ref(), group.rows.as_ref());
    let task = tasks.map(|tasks| &*tasks.first);
    let [state, future, at, spawned] = task.map_or_else(|| [(); 4].map(|()| row::missing()), outside);
    let first = seen.map(|seen| &seen.first);
    let of_table = |cell: String| cell + OF_TABLE;
    let id = tasks.map_or_else(row::missing, Tasks::ids);
    let state = if task.is_some() {
        state
    } else {
        first.map(|seen| of_table(row::state(seen).to_owned())).unwrap_or_default()
    };
    let future = match first {
        Some(seen) if task.is_none_or(|task| !words::is_named(task)) => of_table(words::cut(row::function(seen), NAME)),
        _ => future,
    };
    let is_told = task.is_some_and(words::is_told);
    let by_table = |known: Option<String>| known.filter(|_| !is_told && task.is_none_or(|task| !task.state.complete));
    let place = first.and_then(row::place);
    let at = by_table(place).filter(|_| task.is_none() || at == "-").map_or(at, of_table);
    let waits = match by_table(seen.and_then(|seen| seen.wait())) {
        Some(wait) => of_table(words::cut(wait, WAITS)),
        None => tasks.map_or_else(row::missing, waits),
    };
    let spawned = match first {
        Some(seen) if !task.is_some_and(words::is_spawn_recorded) => of_table(row::texts(seen.site.as_ref()).1),
        _ => spawned,
    };
    let count = tasks.map_or(0, |tasks| tasks.count).max(seen.map_or(0, |seen| seen.count));
    let mut row = if each { Vec::new() } else { vec![count.to_string()] };
    row.push(id);
    if !has_table {
        row.extend([state, future, at, waits, spawned]);
        return row;
    }
    let known = |cell: &dyn Fn(&table::TaskGroup) -> String| seen.map_or_else(row::missing, cell);
    row.extend([
        known(&|seen| seen.pids()),
        state,
        known(&|seen| seen.since()),
        future,
        known(&|seen| seen.tags()),
        at,
        known(&|seen| seen.polls.to_string()),
        known(&|seen| seen.busy()),
        known(&|seen| seen.longest()),
        known(&|seen| seen.wakers()),
        waits,
        spawned,
    ]);
    row
}

/// Summarises the waits of a group.
fn waits(tasks: &Tasks<'_>) -> String {
    let count = tasks.leaves.len();
    if count == 0 {
        return words::without_leaves(&tasks.first).to_owned();
    }
    let told: Vec<String> = tasks.leaves.iter().take(LEAVES).map(|leaves| leaves.text()).collect();
    let more = if count > LEAVES { format!(" and {} more", count - LEAVES) } else { String::new() };
    words::cut(told.join(" and "), WAITS) + &more
}

/// The counts of the listing, of the runtimes and of the table, the gaps, and the notes.
pub fn foot(counts: String, table: Option<&Counts>, told: &Coverage, notes: &[String]) -> String {
    counts + &table.map(Counts::text).unwrap_or_default() + &answer::line(told) + &noted(notes)
}

/// How many tasks there are in memory.
#[derive(Debug, Clone, Copy, Default)]
pub struct Totals {
    all: usize,
    jobs: usize,
    complete: usize,
}

impl Totals {
    pub fn add(&mut self, task: &Task) {
        self.all += 1;
        self.jobs += usize::from(task.owner == 0);
        self.complete += usize::from(task.owner != 0 && task.state.complete);
    }

    pub fn append(&mut self, others: Totals) {
        self.all += others.all;
        self.jobs += others.jobs;
        self.complete += others.complete;
    }

    pub fn text(self, runtimes: &[Runtime]) -> String {
        let Totals { all, jobs, complete } = self;
        let mut text = format!("{} found", words::counted(all - jobs, "task"));
        if complete > 0 {
            text += &format!(", {complete} of them complete");
        }
        if jobs > 0 {
            text += &format!("; {} of the blocking pool", words::counted(jobs, "job"));
        }
        text.push('\n');
        let mut of_owner = HashMap::new();
        runtimes.iter().for_each(|runtime| *of_owner.entry(runtime.owner).or_insert(0) += 1);
        for runtime in runtimes {
            let shows_address = of_owner[&runtime.owner] > 1;
            text += &of_runtime(runtime, shows_address);
        }
        text
    }
}

fn of_runtime(runtime: &Runtime, shows_address: bool) -> String {
    let at = if shows_address { format!(" at {:#x}", runtime.scheduler) } else { String::new() };
    let found = format!("runtime {}{at}: {} found that have not completed", runtime.owner, runtime.found);
    match runtime.counted {
        None => format!("{found}; its own count was not found\n"),
        Some(counted) if counted == runtime.found => format!("{found}, its own count is {counted}\n"),
        Some(counted) => format!(
            "{found}, but its own count is {counted}: tasks began or ended meanwhile, or are not seen; \
             look again, or with --stop\n"
        ),
    }
}

pub fn notes(look: &Look) -> String {
    noted(&look.notes())
}

fn noted(notes: &[String]) -> String {
    notes.iter().map(|note| format!("note: {}\n", escape::name(note))).collect()
}

#[cfg(test)]
mod tests {
    use dyntrace_tasks::listing::Listing;

    use super::*;
    use crate::sample;

    #[test]
    fn runtimes_with_the_same_number_have_their_addresses() {
        let mut look = Look::of_memory(sample::listing());
        look.listing.runtimes[1].owner = 1;
        let foot = text(&look, false, None);
        assert!(foot.contains("\nruntime 1 at 0x1000: 33 found") && foot.contains("\nruntime 1 at 0x2000: 7 found"));
        assert!(foot.contains("\nruntime 3: 1 found"));
    }

    #[test]
    fn each_task_in_a_line() {
        assert_eq!(text(&Look::of_memory(sample::listing()), true, None), include_str!("golden/ps-all.txt"));
    }

    #[test]
    fn tasks_that_are_alike_in_one_line() {
        assert_eq!(text(&Look::of_memory(sample::listing()), false, None), include_str!("golden/ps.txt"));
    }

    #[test]
    fn tasks_of_a_program_with_a_table() {
        assert_eq!(text(&sample::look(), true, None), include_str!("golden/ps-table-all.txt"));
        assert_eq!(text(&sample::look(), false, None), include_str!("golden/ps-table.txt"));
        assert_eq!(text(&sample::look_at_table(), false, None), include_str!("golden/ps-table-alone.txt"));
    }

    #[test]
    fn places_of_spawning_are_shown_if_there_are_any() {
        let mut look = Look::of_memory(sample::listing());
        look.listing.tasks.truncate(2);
        assert!(text(&look, true, None).contains("SPAWNED AT"));
        look.listing.tasks.retain(|task| task.id == 99);
        look.listing.tasks.push(sample::task(4, dyntrace_tasks::listing::Chain::NoTypes));
        assert_eq!(text(&look, true, None).lines().next(), Some("ID  STATE  FUTURE                 AT  WAITS FOR"));
    }

    #[test]
    fn a_program_without_tasks() {
        assert_eq!(
            text(&Look::of_memory(Listing::default()), false, None),
            "0 tasks found\nunknown: no task and no runtime was found: the program has none now, or another layout of tokio\n"
        );
    }
}
