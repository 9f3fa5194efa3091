//! `dyntrace ps`: a line for each task, or for tasks that are alike.

use std::hash::Hash;

use dyntrace_task_table::Seen;
use dyntrace_tasks::listing::{Listing, Task};

use super::fold::{fold, ids, summary};
use super::read::Look;
use super::table::seen::{self, alike};
use super::table::{self, Kept};
use super::words;
use crate::columns;
use crate::escape;

/// Characters of a future's name: the tree has all of it.
const NAME: usize = 60;

/// Characters of a task's waits.
const WAITS: usize = 100;

/// Leaves named in a line.
const LEAVES: usize = 3;

/// Ends cells that are from the program's table, in columns that are else from its memory.
const OF_TABLE: &str = " *";

/// The lines of all tasks, `each` in one of its own, and the foot.
pub fn text(look: &Look, each: bool) -> String {
    let kept = look.kept.as_ref();
    let mut rows: Vec<Vec<String>> = vec![titles(kept.is_some(), each)];
    // Tasks in memory are never alike to those in the table only. There may be a million of each.
    let groups = grouped(look.listing.tasks.iter(), each, |task| (key(task), look.row(task).map(alike)));
    rows.extend(groups.into_iter().map(|tasks| {
        let seen: Vec<&Seen> = tasks.iter().filter_map(|task| look.row(task)).collect();
        row(kept, &tasks, &seen, each)
    }));
    let groups = grouped(look.others().map(|(_, seen)| seen), each, |seen| (alike(seen), seen::state(seen)));
    rows.extend(groups.into_iter().map(|seen| row(kept, &[], &seen, each)));
    // Most programs do not record it.
    if rows.iter().skip(1).all(|row| row.last().is_none_or(|spawned| spawned == "-")) {
        rows.iter_mut().for_each(|row| row.truncate(row.len() - 1));
    }
    let is_number = |column: usize| ["TASKS", "POLLS"].contains(&&*rows[0][column]) || each && column == 0;
    let table = if rows.len() == 1 { String::new() } else { lines(&columns::aligned(&rows, is_number)) };
    table + &foot(look)
}

fn titles(has_table: bool, each: bool) -> Vec<String> {
    let titles: &[&str] = match has_table {
        false => &["TASKS", "ID", "STATE", "FUTURE", "AT", "WAITS FOR", "SPAWNED AT"],
        true => &[
            "TASKS",
            "ID",
            "PID",
            "STATE",
            "SINCE",
            "FUTURE",
            "TAG",
            "AT",
            "POLLS",
            "BUSY",
            "LONGEST POLL",
            "WOKEN BY",
            "WAITS FOR",
            "SPAWNED AT",
        ],
    };
    titles[usize::from(each)..].iter().map(|title| (*title).to_owned()).collect()
}

fn lines(lines: &[String]) -> String {
    lines.iter().map(|line| line.trim_end().to_owned() + "\n").collect()
}

/// Those that are alike together, or each alone.
fn grouped<T, K: Hash + Eq>(items: impl Iterator<Item = T>, each: bool, key: impl Fn(&T) -> K) -> Vec<Vec<T>> {
    if each { items.map(|item| vec![item]).collect() } else { fold(items, key) }
}

/// Tasks in memory of which all this is the same are alike.
fn key(task: &Task) -> ([String; 4], String, Vec<String>) {
    (outside(task), words::future(task), kinds(task))
}

/// The row of tasks that are alike: in memory, in the program's table, or in both.
fn row(kept: Option<&Kept>, tasks: &[&Task], seen: &[&Seen], each: bool) -> Vec<String> {
    let task = tasks.first().copied();
    let [state, future, at, spawned] = task.map_or_else(|| [(); 4].map(|()| seen::missing()), outside);
    let first = seen.first().copied();
    let of_table = |cell: String| cell + OF_TABLE;
    let id = if tasks.is_empty() { seen::missing() } else { ids(tasks) };
    let state = if task.is_some() {
        state
    } else {
        first.map(|seen| of_table(seen::state(seen).to_owned())).unwrap_or_default()
    };
    let future = match first {
        Some(seen) if task.is_none_or(|task| !words::is_named(task)) => {
            of_table(words::cut(table::function(seen), NAME))
        }
        _ => future,
    };
    let is_told = task.is_some_and(words::is_told);
    let by_table = |known: Option<String>| known.filter(|_| !is_told && task.is_none_or(|task| !task.state.complete));
    let at = by_table(table::place(seen)).filter(|_| task.is_none() || at == "-").map_or(at, of_table);
    let waits = match kept.and_then(|kept| by_table(table::wait(kept, seen))) {
        Some(wait) => of_table(words::cut(wait, WAITS)),
        None if tasks.is_empty() => seen::missing(),
        None => waits(tasks),
    };
    let spawned = match first {
        Some(seen) if !task.is_some_and(words::is_spawn_recorded) => of_table(seen::texts(seen.site.as_ref()).1),
        _ => spawned,
    };
    let mut row = if each { Vec::new() } else { vec![tasks.len().max(seen.len()).to_string()] };
    row.push(id);
    let Some(kept) = kept else {
        row.extend([state, future, at, waits, spawned]);
        return row;
    };
    let known = |cell: &dyn Fn() -> String| if seen.is_empty() { seen::missing() } else { cell() };
    row.extend([
        known(&|| seen::pids(seen)),
        state,
        known(&|| table::since(kept, seen)),
        future,
        known(&|| seen::tags(seen)),
        at,
        known(&|| seen::polls(seen).to_string()),
        known(&|| seen::busy(seen, kept.clock())),
        known(&|| seen::longest(seen, kept.clock())),
        known(&|| seen::wakers(seen)),
        waits,
        spawned,
    ]);
    row
}

/// The columns of a task, without its id and waits.
fn outside(task: &Task) -> [String; 4] {
    [words::state(task), words::cut(words::future(task), NAME), words::at(task), words::spawned(task)]
}

fn kinds(task: &Task) -> Vec<String> {
    words::leaves(task).into_iter().map(words::kind).collect()
}

/// Summarises the waits of a group. Its tasks have leaves of the same kinds, in the same order.
fn waits(group: &[&Task]) -> String {
    let leaves: Vec<_> = group.iter().map(|task| words::leaves(task)).collect();
    let count = leaves[0].len();
    if count == 0 {
        return words::without_leaves(group[0]).to_owned();
    }
    let told =
        (0..count.min(LEAVES)).map(|leaf| summary(&leaves.iter().map(|leaves| leaves[leaf]).collect::<Vec<_>>()));
    let more = if count > LEAVES { format!(" and {} more", count - LEAVES) } else { String::new() };
    words::cut(told.collect::<Vec<_>>().join(" and "), WAITS) + &more
}

/// The counts of the listing, of the runtimes and of the table, and the notes.
pub fn foot(look: &Look) -> String {
    let counts = if look.has_memory { counts(&look.listing) } else { String::new() };
    counts + &look.kept.as_ref().map(Kept::counts).unwrap_or_default() + &notes(look)
}

fn counts(listing: &Listing) -> String {
    let count = |is: &dyn Fn(&Task) -> bool| listing.tasks.iter().filter(|task| is(task)).count();
    let jobs = count(&|task| task.owner == 0);
    let complete = count(&|task| task.owner != 0 && task.state.complete);
    let mut text = format!("{} found", words::counted(listing.tasks.len() - jobs, "task"));
    if complete > 0 {
        text += &format!(", {complete} of them complete");
    }
    if jobs > 0 {
        text += &format!("; {} of the blocking pool", words::counted(jobs, "job"));
    }
    text.push('\n');
    for runtime in &listing.runtimes {
        let same = listing.runtimes.iter().filter(|other| other.owner == runtime.owner).count() > 1;
        let at = if same { format!(" at {:#x}", runtime.scheduler) } else { String::new() };
        let found = format!("runtime {}{at}: {} found that have not completed", runtime.owner, runtime.found);
        text += &match runtime.counted {
            None => format!("{found}; its own count was not found\n"),
            Some(counted) if counted == runtime.found => format!("{found}, its own count is {counted}\n"),
            Some(counted) => format!(
                "{found}, but its own count is {counted}: tasks began or ended meanwhile, or are not seen; \
                 look again, or with --stop\n"
            ),
        };
    }
    text
}

pub fn notes(look: &Look) -> String {
    look.notes().iter().map(|note| format!("note: {}\n", escape::name(note))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tasks::sample;

    #[test]
    fn runtimes_with_the_same_number_have_their_addresses() {
        let mut look = Look::of_memory(sample::listing());
        look.listing.runtimes[1].owner = 1;
        let foot = foot(&look);
        assert!(foot.contains("\nruntime 1 at 0x1000: 33 found") && foot.contains("\nruntime 1 at 0x2000: 7 found"));
        assert!(foot.contains("\nruntime 3: 1 found"));
    }

    #[test]
    fn each_task_in_a_line() {
        assert_eq!(text(&Look::of_memory(sample::listing()), true), include_str!("golden/ps-all.txt"));
    }

    #[test]
    fn tasks_that_are_alike_in_one_line() {
        assert_eq!(text(&Look::of_memory(sample::listing()), false), include_str!("golden/ps.txt"));
    }

    #[test]
    fn tasks_of_a_program_with_a_table() {
        assert_eq!(text(&sample::look(), true), include_str!("golden/ps-table-all.txt"));
        assert_eq!(text(&sample::look(), false), include_str!("golden/ps-table.txt"));
        assert_eq!(text(&sample::look_at_table(), false), include_str!("golden/ps-table-alone.txt"));
    }

    #[test]
    fn places_of_spawning_are_shown_if_there_are_any() {
        let mut look = Look::of_memory(sample::listing());
        look.listing.tasks.truncate(2);
        assert!(text(&look, true).contains("SPAWNED AT"));
        look.listing.tasks.retain(|task| task.id == 99);
        look.listing.tasks.push(sample::task(4, dyntrace_tasks::listing::Chain::NoTypes));
        assert_eq!(text(&look, true).lines().next(), Some("ID  STATE  FUTURE                 AT  WAITS FOR"));
    }

    #[test]
    fn a_program_without_tasks() {
        assert_eq!(text(&Look::of_memory(Listing::default()), false), "0 tasks found\n");
    }
}
