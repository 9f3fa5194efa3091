//! `dyntrace ps`: a line for each task, or for tasks that are alike.

use dyntrace_tasks::listing::{Listing, Task};

use super::fold::{fold, ids, summary};
use super::words;
use crate::columns;
use crate::escape;

/// Characters of a future's name: the tree has all of it.
const NAME: usize = 60;

/// Characters of a task's waits.
const WAITS: usize = 100;

/// Leaves named in a line.
const LEAVES: usize = 3;

/// The lines of all tasks, `each` in one of its own, and the foot.
pub fn text(listing: &Listing, each: bool) -> String {
    let tasks = listing.tasks.iter();
    let groups = if each {
        tasks.map(|task| vec![task]).collect()
    } else {
        fold(tasks, |task| (outside(task), words::future(task), kinds(task)))
    };
    let mut titles = vec!["ID", "STATE", "FUTURE", "AT", "WAITS FOR", "SPAWNED AT"];
    if !each {
        titles.insert(0, "TASKS");
    }
    let mut rows = vec![titles.into_iter().map(str::to_owned).collect::<Vec<_>>()];
    for group in groups {
        let [state, future, at, spawned] = outside(group[0]);
        let mut row = vec![ids(&group), state, future, at, waits(&group), spawned];
        if !each {
            row.insert(0, group.len().to_string());
        }
        rows.push(row);
    }
    // Most programs do not record it.
    if rows.iter().skip(1).all(|row| row.last().is_none_or(|spawned| spawned == "-")) {
        rows.iter_mut().for_each(|row| row.truncate(row.len() - 1));
    }
    let table =
        if listing.tasks.is_empty() { String::new() } else { lines(&columns::aligned(&rows, |column| column == 0)) };
    table + &foot(listing)
}

fn lines(lines: &[String]) -> String {
    lines.iter().map(|line| line.trim_end().to_owned() + "\n").collect()
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

/// The counts of the listing and of the runtimes, and the notes.
pub fn foot(listing: &Listing) -> String {
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
    text + &notes(listing)
}

pub fn notes(listing: &Listing) -> String {
    listing.notes.iter().map(|note| format!("note: {}\n", escape::name(note))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tasks::sample;

    #[test]
    fn runtimes_with_the_same_number_have_their_addresses() {
        let mut listing = sample::listing();
        listing.runtimes[1].owner = 1;
        let foot = foot(&listing);
        assert!(foot.contains("\nruntime 1 at 0x1000: 33 found") && foot.contains("\nruntime 1 at 0x2000: 7 found"));
        assert!(foot.contains("\nruntime 3: 1 found"));
    }

    #[test]
    fn each_task_in_a_line() {
        assert_eq!(text(&sample::listing(), true), include_str!("golden/ps-all.txt"));
    }

    #[test]
    fn tasks_that_are_alike_in_one_line() {
        assert_eq!(text(&sample::listing(), false), include_str!("golden/ps.txt"));
    }

    #[test]
    fn places_of_spawning_are_shown_if_there_are_any() {
        let mut listing = sample::listing();
        listing.tasks.truncate(2);
        assert!(text(&listing, true).contains("SPAWNED AT"));
        listing.tasks.retain(|task| task.id == 99);
        listing.tasks.push(sample::task(4, dyntrace_tasks::listing::Chain::NoTypes));
        assert_eq!(text(&listing, true).lines().next(), Some("ID  STATE  FUTURE                 AT  WAITS FOR"));
    }

    #[test]
    fn a_program_without_tasks() {
        assert_eq!(text(&Listing::default(), false), "0 tasks found\n");
    }
}
